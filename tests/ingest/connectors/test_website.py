"""Websites as sources: within robots.txt and limits, and whatever a hostile site does."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from kedge.core.errors import SourceFault
from kedge.core.settings import Settings
from kedge.core.values import Json, SourceError
from kedge.ingest.connectors.ports import Entry, LastListing, Remembered, SourceAddress
from kedge.ingest.connectors.robots import fits, read_robots
from kedge.ingest.connectors.website import Website, open_website
from tests.support.places import Page, WebPlace, web_site

HERE = Settings(allow_private_urls=True, url_timeout=2.0)


@pytest.fixture
def site() -> Iterator[WebPlace]:
    with web_site() as place:
        yield place


def page(*links: str, text: str = "A page.") -> Page:
    return Page(f"<title>P</title><p>{text}</p>" + "".join(f'<a href="{link}">x</a>' for link in links))


def opened(site: WebPlace, path: str = "/", settings: Settings = HERE, **options: Json) -> Website:
    return open_website(SourceAddress(f"{site.address}{path}", options), settings)


def walked(walker: Website, past: LastListing | None = None) -> tuple[list[str], list[SourceError]]:
    """Paths of the pages, in their order, and what went wrong; the pages that are not known are opened as they come."""
    pages, faults = [], []
    known = {one.fingerprint for one in past.items.values()} if past else set()
    for one in walker.entries(past or LastListing()):
        if isinstance(one, Entry):
            if one.fingerprint not in known:
                walker.open(one)
            pages.append(one.url.split("/", 3)[3])
        else:
            faults.append(one)
    return pages, faults


def remembered(walker: Website) -> LastListing:
    entries = [one for one in walker.entries(LastListing()) if isinstance(one, Entry)]
    return LastListing({one.key: Remembered(one.url, one.fingerprint, one.size, one.note) for one in entries})


def test_pages_are_found_by_links_and_sitemaps_each_once(site: WebPlace) -> None:
    site.pages = {"/": page("/a", "a#part", "/b?x=1"), "/a": page("/", "/c"), "/b?x=1": page(), "/c": page("/a")}
    site.pages["/lonely"] = page()
    maps = f"<sitemapindex><sitemap><loc>{site.address}/deep.xml.gz</loc></sitemap></sitemapindex>"
    site.pages["/sitemap.xml"] = Page(maps, "application/xml")
    packed = gzip.compress(f"<urlset><url><loc>{site.address}/lonely</loc></url></urlset>".encode())
    site.pages["/deep.xml.gz"] = Page(packed, "application/gzip")
    walker = opened(site)
    pages, faults = walked(walker)
    assert sorted(pages) == ["", "a", "b?x=1", "c", "lonely"]
    assert faults == []
    assert walker.complete
    assert len(site.asked) == len(set(site.asked))
    assert all("kedge" in agent for agent in site.agents)


def test_what_did_not_change_is_not_sent_again(site: WebPlace) -> None:
    site.pages = {"/": page("/a"), "/a": page("/b"), "/b": page()}
    past = remembered(opened(site))
    site.pages["/b"] = page(text="Another text.")
    site.asked.clear()
    assert walked(opened(site), past)[0] == ["", "a", "b"]  # the links of what was not sent are known
    assert [status for path, status in site.asked if path in site.pages] == [304, 304, 200]


def test_a_site_without_tags_is_read_each_time(site: WebPlace) -> None:
    site.tags = False
    site.pages = {"/": page("/a"), "/a": page()}
    past = remembered(opened(site))
    assert all(one.fingerprint is None for one in past.items.values())
    assert walked(opened(site), past)[0] == ["", "a"]


def test_robots_txt_is_kept(site: WebPlace) -> None:
    rules = "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nAllow: /private/open\n"
    site.pages = {"/robots.txt": Page(rules, "text/plain")}
    site.pages["/"] = page("/private/secret", "/private/open", "/paper.pdf", "/paper.pdf?page=1")
    for path in ("/private/secret", "/private/open", "/paper.pdf", "/paper.pdf?page=1"):
        site.pages[path] = page()
    assert sorted(walked(opened(site))[0]) == ["", "paper.pdf?page=1", "private/open"]
    assert ("/private/secret", 200) not in site.asked


@pytest.mark.parametrize(
    ("robots", "words"),
    [
        (Page("User-agent: kedge\nDisallow: /\n", "text/plain"), "robots.txt"),
        (Page("down", status=503), "503"),
    ],
)
def test_a_site_that_forbids_or_fails_over_robots_txt_is_left_alone(site: WebPlace, robots: Page, words: str) -> None:
    site.pages = {"/robots.txt": robots, "/": page()}
    with pytest.raises(SourceFault, match=words):
        walked(opened(site))
    assert [path for path, _ in site.asked] == ["/robots.txt"]


def test_other_hosts_and_folders_are_not_entered(site: WebPlace) -> None:
    with web_site() as other:
        other.pages["/"] = page()
        site.pages = {
            "/docs/": page(
                "/docs/a",
                "/blog/",
                f"{other.address}/",
                "ftp://x/y",
                "javascript:alert(1)",
                "mailto:a@b",
                "http://[::1",
            ),
            "/docs/a": page(),
            "/blog/": page(),
            "/docs/away": page(),
        }
        assert walked(opened(site, "/docs/"))[0] == ["docs/", "docs/a"]
        assert other.asked == []
        assert sorted(walked(opened(site, "/docs/", within="/"))[0]) == ["blog/", "docs/", "docs/a"]


def test_redirects_stay_on_the_site(site: WebPlace) -> None:
    with web_site() as inner:
        inner.pages["/"] = page(text="The inside of the network.")
        site.pages = {
            "/": page("/old", "/out", "/loop"),
            "/old": Page("", status=301, Location="/new"),
            "/new": page(),
            "/out": Page("", status=302, Location=f"{inner.address}/"),
            "/loop": Page("", status=302, Location="/loop"),
        }
        pages, faults = walked(opened(site))
        assert pages == ["", "new"]
        assert [fault.url for fault in faults] == [f"{site.address}/loop"]
        assert inner.asked == []


def test_a_first_page_that_is_gone_or_leads_away_is_a_fault_not_an_empty_site(site: WebPlace) -> None:
    with web_site() as other:
        for first in (Page("", status=404), Page("", status=301, Location=f"{other.address}/")):
            site.pages = {"/": first}
            with pytest.raises(SourceFault):
                walked(opened(site))


def test_private_addresses_are_refused(site: WebPlace) -> None:
    site.pages = {"/": page()}
    with pytest.raises(SourceFault, match="public address"):
        walked(opened(site, settings=Settings()))
    assert site.asked == []


def test_a_site_without_end_is_cut_and_takes_nothing_out(site: WebPlace) -> None:
    """Every page links to ten new ones."""
    answer = site.answer

    def endless(path: str, known: str) -> Page:
        if path.startswith("/p"):
            return page(*(f"{path}/{number}" for number in range(10)))
        return answer(path, known)

    site.answer = endless  # type: ignore[method-assign]
    site.pages = {"/": page("/p")}
    walker = opened(site, pages=25)
    pages, faults = walked(walker)
    assert len(pages) == 25
    assert not walker.complete
    assert ["25 pages" in fault.message for fault in faults] == [True]
    deep = opened(site, depth=2)
    assert len(walked(deep)[0]) == 12  # the first, one below it, ten below that
    assert deep.complete


def test_a_page_without_end_costs_no_more_than_allowed(site: WebPlace) -> None:
    site.pages = {"/": page("/huge", "/after"), "/huge": Page("<p>" + "x" * 3_000_000), "/after": page()}
    walker = opened(site, bytes=1_000_000)
    pages, faults = walked(walker)
    assert "huge" not in pages
    assert [fault.code for fault in faults][:1] == ["too_large"]


def test_what_is_no_document_is_passed_over(site: WebPlace) -> None:
    site.pages = {
        "/": page("/film", "/pack", "/gone", "/broken", "/text"),
        "/film": Page(b"\x00\x01", "video/mp4"),
        "/pack": Page(b"PK", "application/zip"),
        "/broken": Page("oops", status=500),
        "/text": Page("Plain words.", "text/plain"),
    }
    pages, faults = walked(opened(site))
    assert pages == ["", "text"]
    assert [fault.url.rpartition("/")[2] for fault in faults] == ["broken"]  # 404 is no fault: it is gone


def test_a_site_that_is_down_ends_the_walk(site: WebPlace) -> None:
    site.pages = {"/": page(*(f"/{number}" for number in range(200)))}
    for number in range(200):
        site.pages[f"/{number}"] = Page("down", status=503)
    with pytest.raises(SourceFault, match="503"):
        walked(opened(site))
    assert len(site.asked) < 50


def test_a_walk_ends_in_time(site: WebPlace) -> None:
    site.pages = {"/": page("/a", "/b"), "/a": page(), "/b": page()}
    walker = opened(site, seconds=0)
    assert walked(walker)[0] == []
    assert not walker.complete


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        ("/a", "/ab", True),
        ("/a$", "/ab", False),
        ("/a$", "/a", True),
        ("/*/c", "/a/b/c", True),
        ("/*/c$", "/a/c/d", False),
        ("*.pdf$", "/x.pdf", True),
        ("/a*b*c$", "/a-b-b-c", True),
        ("/a*bc*c$", "/abc", False),
        ("*" * 3000 + "x$", "/" + "y" * 3000, False),
    ],
)
def test_patterns_of_robots_txt(pattern: str, path: str, wanted: bool) -> None:
    assert fits(pattern, path) is wanted


def test_groups_of_robots_txt() -> None:
    text = (
        "User-agent: other\nDisallow: /\n\nUser-agent: Kedge\nUser-agent: x\nCrawl-delay: 99\nDisallow: /a\n# end\n"
        "rubbish\nUser-agent: *\nDisallow: /b"
    )
    found = read_robots(text, "kedge")
    assert (found.allows("/a"), found.allows("/b"), found.delay) == (False, True, 10.0)
    anyone = read_robots(text, "somebody")
    assert (anyone.allows("/a"), anyone.allows("/b")) == (True, False)
