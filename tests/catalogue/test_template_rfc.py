"""The examples of RFC 6570, section 3.2: every template expands as printed there, and matches again."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from mcp_lectern.catalogue.template import Template
from mcp_lectern.catalogue.template_expand import Value

VALUES: dict[str, Value] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
    "empty_list": [],
}
SECTIONS = {
    "3.2.1 expansion": """
        {count} one,two,three
        {count*} one,two,three
        {/count} /one,two,three
        {/count*} /one/two/three
        {;count} ;count=one,two,three
        {;count*} ;count=one;count=two;count=three
        {?count} ?count=one,two,three
        {?count*} ?count=one&count=two&count=three
        {&count*} &count=one&count=two&count=three
    """,
    "3.2.2 simple": """
        {var} value
        {hello} Hello%20World%21
        {half} 50%25
        O{empty}X OX
        O{undef}X OX
        {x,y} 1024,768
        {x,hello,y} 1024,Hello%20World%21,768
        ?{x,empty} ?1024,
        ?{x,undef} ?1024
        ?{undef,y} ?768
        {var:3} val
        {var:30} value
        {list} red,green,blue
        {list*} red,green,blue
        {keys} semi,%3B,dot,.,comma,%2C
        {keys*} semi=%3B,dot=.,comma=%2C
    """,
    "3.2.3 reserved": """
        {+var} value
        {+hello} Hello%20World!
        {+half} 50%25
        {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
        {+base}index http://example.com/home/index
        O{+empty}X OX
        O{+undef}X OX
        {+path}/here /foo/bar/here
        here?ref={+path} here?ref=/foo/bar
        up{+path}{var}/here up/foo/barvalue/here
        {+x,hello,y} 1024,Hello%20World!,768
        {+path,x}/here /foo/bar,1024/here
        {+path:6}/here /foo/b/here
        {+list} red,green,blue
        {+list*} red,green,blue
        {+keys} semi,;,dot,.,comma,,
        {+keys*} semi=;,dot=.,comma=,
    """,
    "3.2.4 fragment": """
        {#var} #value
        {#hello} #Hello%20World!
        {#half} #50%25
        foo{#empty} foo#
        foo{#undef} foo
        {#x,hello,y} #1024,Hello%20World!,768
        {#path,x}/here #/foo/bar,1024/here
        {#path:6}/here #/foo/b/here
        {#list} #red,green,blue
        {#list*} #red,green,blue
        {#keys} #semi,;,dot,.,comma,,
        {#keys*} #semi=;,dot=.,comma=,
    """,
    "3.2.5 label": """
        {.who} .fred
        {.who,who} .fred.fred
        {.half,who} .50%25.fred
        www{.dom*} www.example.com
        X{.var} X.value
        X{.empty} X.
        X{.undef} X
        X{.var:3} X.val
        X{.list} X.red,green,blue
        X{.list*} X.red.green.blue
        X{.keys} X.semi,%3B,dot,.,comma,%2C
        X{.keys*} X.semi=%3B.dot=..comma=%2C
        X{.empty_keys} X
        X{.empty_keys*} X
    """,
    "3.2.6 path": """
        {/who} /fred
        {/who,who} /fred/fred
        {/half,who} /50%25/fred
        {/who,dub} /fred/me%2Ftoo
        {/var} /value
        {/var,empty} /value/
        {/var,undef} /value
        {/var,x}/here /value/1024/here
        {/var:1,var} /v/value
        {/list} /red,green,blue
        {/list*} /red/green/blue
        {/list*,path:4} /red/green/blue/%2Ffoo
        {/keys} /semi,%3B,dot,.,comma,%2C
        {/keys*} /semi=%3B/dot=./comma=%2C
    """,
    "3.2.7 parameters": """
        {;who} ;who=fred
        {;half} ;half=50%25
        {;empty} ;empty
        {;v,empty,who} ;v=6;empty;who=fred
        {;v,bar,who} ;v=6;who=fred
        {;x,y} ;x=1024;y=768
        {;x,y,empty} ;x=1024;y=768;empty
        {;x,y,undef} ;x=1024;y=768
        {;hello:5} ;hello=Hello
        {;list} ;list=red,green,blue
        {;list*} ;list=red;list=green;list=blue
        {;keys} ;keys=semi,%3B,dot,.,comma,%2C
        {;keys*} ;semi=%3B;dot=.;comma=%2C
    """,
    "3.2.8 query": """
        {?who} ?who=fred
        {?half} ?half=50%25
        {?x,y} ?x=1024&y=768
        {?x,y,empty} ?x=1024&y=768&empty=
        {?x,y,undef} ?x=1024&y=768
        {?var:3} ?var=val
        {?list} ?list=red,green,blue
        {?list*} ?list=red&list=green&list=blue
        {?keys} ?keys=semi,%3B,dot,.,comma,%2C
        {?keys*} ?semi=%3B&dot=.&comma=%2C
    """,
    "3.2.9 continuation": """
        {&who} &who=fred
        {&half} &half=50%25
        ?fixed=yes{&x} ?fixed=yes&x=1024
        {&x,y,empty} &x=1024&y=768&empty=
        {&var:3} &var=val
        {&list} &list=red,green,blue
        {&list*} &list=red&list=green&list=blue
        {&keys} &keys=semi,%3B,dot,.,comma,%2C
        {&keys*} &semi=%3B&dot=.&comma=%2C
    """,
}
EXAMPLES = [tuple(line.split()) for lines in SECTIONS.values() for line in lines.split("\n") if line.strip()]


def test_there_are_as_many_as_in_the_rfc() -> None:
    assert len(EXAMPLES) > 100


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(("text", "uri"), EXAMPLES)
def test_tpl_02_expands_as_the_rfc_says(text: str, uri: str) -> None:
    template = Template.parse(text)
    assert isinstance(template, Template)
    assert template.expand(VALUES) == uri


@pytest.mark.case("TPL-02")
@pytest.mark.case("TPL-03")
@pytest.mark.parametrize(("text", "uri"), EXAMPLES)
def test_tpl_02_tpl_03_what_was_expanded_is_known_again(text: str, uri: str) -> None:
    template = Template.parse(text)
    assert isinstance(template, Template)
    arguments = template.match(uri)
    assert arguments is not None
    # A list that is not exploded reads like one value with commas, and goes out as such.
    assert unquote(template.expand(arguments)) == unquote(uri)
