"""The command line: one module a group of commands, each loaded when its command is used.

::

    main        the entry point: one boundary for errors, exit codes and broken pipes
    root        the table of commands, and the options that work everywhere
    asking      one tool call: over the worker's socket (`fast`), or in this process
    output      what is printed, and how text from files is kept from steering a terminal
"""
