"""All that public functions and classes make prints itself in one line."""

import api_calls as api


def test_all_public_objects_are_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    api.furnish()
    seen, long = 0, {}
    for name, call in api.calls().items():
        if not isinstance(call.function, type):  # results of functions are of these, or plain
            continue
        made = call.function(**call.arguments)
        reported = repr(made)
        seen += 1
        if len(reported) > 700 or "\n" in reported or " object at 0x" in reported:
            long[name] = reported[:200]
    assert not long
    assert seen > 60


def test_what_repeats_itself_ends():
    from symplex.base.representation import Described

    class Loop(Described):
        pass

    loop = Loop()
    loop.itself = loop
    assert repr(loop) == "Loop(itself=…)"
    loop.many = {"a": 1}
    loop.long = list(range(100))
    assert repr(loop) == "Loop(itself=…, many={a}, long=list of 100)"
