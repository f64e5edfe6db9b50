# runtime: python-mp
import multiprocessing
import sys


def work(how):
    if how == "exit":
        sys.exit(4)
    if how == "raise":
        raise RuntimeError("in the child")
    print("done", how)


if __name__ == "__main__":
    for how in "exit", "raise", "end":
        child = multiprocessing.Process(target=work, args=(how,), name="child")
        child.start()
        child.join()
        print(how, child.exitcode, flush=True)
    raise SystemExit("the parent's last word")
