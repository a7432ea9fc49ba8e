"""Performance-regression check: fixed workloads, timed in fresh processes, compared with another run.

The modules of this folder import nothing of pychunk's but its public names, and those absolutely: a child process may
load the folder under another name and time another installation of pychunk with it.
"""
