"""eagle3-check: does the server compute the function the trainer optimised?"""
