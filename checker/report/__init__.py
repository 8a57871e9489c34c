"""Takes what a command found out and gives it back in a form people or machines read.

`model` holds the values, and their JSON form is the one described by
``contracts/schema/report.schema.json``; every other module writes one output format.
"""
