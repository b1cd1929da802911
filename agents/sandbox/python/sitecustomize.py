# Opens the analytical database ($SVC_DATABASE) read-only whatever a program asks for, so that one that
# forgot to say so works. It protects nothing: the file cannot be written to in any case.
import os
import sys


def _read_only(duckdb):
    connect = getattr(duckdb, "connect", None)
    if connect is None:
        return

    def is_database(name):
        try:
            return os.path.samefile(name, os.environ["SVC_DATABASE"])
        except (KeyError, OSError, TypeError, ValueError):
            return False

    def connect_read_only(database=":memory:", read_only=False, *args, **kwargs):
        return connect(database, read_only or is_database(database), *args, **kwargs)

    connect_read_only.__doc__ = connect.__doc__
    duckdb.connect = connect_read_only


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "duckdb":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        execute = getattr(spec and spec.loader, "exec_module", None)
        if execute is not None:

            def exec_module(module):
                execute(module)
                _read_only(module)

            spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Finder())
