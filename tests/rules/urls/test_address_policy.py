"""Which addresses may be connected to."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.core.errors import ConfigurationError
from parcahyd.rules.urls.address_policy import AddressPolicy, literal_address

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2600::1",
    "2a00:1450:4001:81b::200e",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2620:4f:8000::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
    "2001:0:808:808:0:0:f7f7:f7f7",
]

NOT_PUBLIC = [
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::808:808",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1ff:ffff::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "2002:c0a8:1::1",
    "2001:0:7f00:1:0:0:f7f7:f7f7",
    "2001:0:808:808:0:0:80ff:fffe",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "1fff::1",
]

NO_ADDRESSES = [
    "",
    "example.com",
    "127.0.0.1 ",
    "127.1",
    "010.0.0.1",
    "1.2.3.4/32",
    "[::1]",
    "2600::1%eth0",
    "fe80::1%1",
    "٨.8.8.8",
    "1" * 5000,
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_admitted(address: str) -> None:
    assert AddressPolicy(()).admits(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses_are_not(address: str) -> None:
    assert not AddressPolicy(()).admits(address)


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_what_is_no_address_is_not_admitted_whatever_is_allowed(text: str) -> None:
    assert not AddressPolicy(("0.0.0.0/0", "::/0")).admits(text)
    assert AddressPolicy(("0.0.0.0/0", "::/0")).vet([text]) == ()


def test_allowed_networks_are_added() -> None:
    policy = AddressPolicy(("127.0.0.2/32", "192.168.7.0/24", "fd00::/8"))
    assert policy.admits("127.0.0.2")
    assert policy.admits("::ffff:127.0.0.2")
    assert policy.admits("192.168.7.9")
    assert policy.admits("fd12::1")
    assert policy.admits("8.8.8.8")
    for refused in ("127.0.0.1", "::1", "192.168.8.1", "169.254.169.254", "fe80::1", "::127.0.0.2", "64:ff9b::7f00:2"):
        assert not policy.admits(refused), refused


def test_a_mapped_network_is_its_ipv4() -> None:
    policy = AddressPolicy(("::ffff:10.0.0.0/104",))
    assert policy.admits("10.1.2.3")
    assert policy.admits("::ffff:10.1.2.3")
    assert not policy.admits("127.0.0.1")
    assert not policy.admits("::a00:1")


@pytest.mark.parametrize("text", ["192.168.7.5/24", "localhost", "10.0.0.0/33", "", "10.0.0.0/8/8"])
def test_a_wrong_network_is_named_with_a_remedy(text: str) -> None:
    with pytest.raises(ConfigurationError) as mistake:
        AddressPolicy((text,))
    assert f'"{text}"' in mistake.value.message
    assert "192.168.7.0/24" in mistake.value.remedy


def test_vetting_keeps_the_order_and_spells_in_one_way() -> None:
    addresses = ["8.8.8.8", "2600:0:0::0001", "127.0.0.1", "junk", "::ffff:8.8.8.8", "2600::1", "1.1.1.1", "::1"]
    assert AddressPolicy(()).vet(addresses) == ("8.8.8.8", "2600::1", "1.1.1.1")
    assert AddressPolicy(("127.0.0.0/8",)).vet(iter(addresses)) == ("8.8.8.8", "2600::1", "127.0.0.1", "1.1.1.1")


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("[::1]", "::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[::ffff:7f00:1]", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("example.com", None),
        ("example.com1", None),
        ("1.2.3", None),
        ("[x]", None),
        ("[", None),
        ("", None),
    ],
)
def test_a_host_that_is_an_address(host: str, address: str | None) -> None:
    assert literal_address(host) == address


@settings(deadline=None)
@given(st.ip_addresses().map(str))
def test_vetting_agrees_with_admitting(address: str) -> None:
    policy = AddressPolicy(())
    vetted = policy.vet([address])
    assert bool(vetted) == policy.admits(address)
    assert all(policy.admits(one) and policy.vet([one]) == (one,) for one in vetted)


@settings(deadline=None)
@given(st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0x7F000001, 0x0A000001, 0xA9FEA9FE, 0x08080808])))
def test_an_address_inside_another_is_judged_by_its_own_number(number: int) -> None:
    policy = AddressPolicy(())
    admitted = policy.admits(str(IPv4Address(number)))
    high, low = number >> 16, number & 0xFFFF
    assert policy.admits(f"::ffff:{high:x}:{low:x}") == admitted
    assert policy.admits(f"64:ff9b::{high:x}:{low:x}") == admitted
    assert policy.admits(f"2002:{high:x}:{low:x}::1") == admitted
    assert policy.admits(f"2001:0:808:808:0:0:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}") == admitted
    assert not policy.admits(f"::{high:x}:{low:x}")
