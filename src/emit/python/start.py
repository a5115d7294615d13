# As a program of its own: starts the debugger, which runs this file again.

def start():
    import subprocess
    words = sys.argv[1:]
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        print("usage: %s CORE|PID [PROGRAM]" % sys.argv[0], file=sys.stderr)
        return 1
    core = None if words[0].isdigit() else os.path.abspath(words[0])
    try:
        program = os.path.abspath(words[1]) if len(words) > 1 else main_file(read_core(core) if core else read_process(int(words[0])))
    except OSError as why:
        print("ERROR: %s: %s" % (words[0], why.strerror), file=sys.stderr)
        return 1
    where = os.dup(1)  # what the debugger itself prints is not the script's
    environment = dict(os.environ, ACU_CORE=core or "", ACU_OUTPUT=str(where), DEBUGINFOD_URLS="", **debugger_environment())
    return subprocess.run(debugger_command(core, words[0], program), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          pass_fds=[where]).returncode


if not is_inside:
    sys.exit(start())
