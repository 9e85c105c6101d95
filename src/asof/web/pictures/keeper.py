"""The process between asof and a browser: it starts the browser, and when asof ends, however that
is, it ends all processes of it and removes its folder.

It is run as a file, `keeper.py LIFELINE FROM TO MEGABYTES FOLDER COMMAND...`, and imports nothing
of asof, so that it starts at once. The first three are descriptors: when the other end of the first
is closed, all is over; by the others the browser is spoken to (its descriptors 3 and 4).
"""

import os
import resource
import select
import shutil
import signal
import subprocess
import sys

# Tries to remove a folder while the last processes that write there are dying, and seconds between.
_TRIES, _BETWEEN = 50, 0.1


def main(words: list[str]) -> None:
    lifeline, *ends = map(int, words[:3])
    megabytes, folder, command = int(words[3]), words[4], words[5:]
    for end, place in zip(ends, (3, 4), strict=True):
        os.dup2(end, place)
        os.close(end)
    # Of each process what it can write to; address space says nothing, for engines reserve much.
    resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        browser = subprocess.Popen(command, pass_fds=(3, 4), process_group=0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # who ends us closes the lifeline
        os.close(3)
        os.close(4)
        os.read(lifeline, 1)
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
    finally:
        for _ in range(_TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.lexists(folder):
                break
            select.select([], [], [], _BETWEEN)


if __name__ == "__main__":
    main(sys.argv[1:])
