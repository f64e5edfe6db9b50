# stdin: x = 20\nx + 22\n1/0\nprint('still here')\n
import code
import cmd
import sys

code.interact(banner="banner", exitmsg="bye", local={})


class Shell(cmd.Cmd):
    prompt = "> "

    def do_add(self, line):
        print(sum(map(int, line.split())))

    def do_EOF(self, line):
        return True


shell = Shell(stdin=open("commands", "w+"))
shell.onecmd("add 1 2 3")
shell.onecmd("nonsense")
shell.onecmd("help")
