"""The check for performance regressions: fixed workloads, timed in fresh processes and compared with another run.

The modules of this folder import only public names of pychunk, by absolute imports. A child process can therefore load
the folder under another name and time another installation of pychunk with it.
"""
