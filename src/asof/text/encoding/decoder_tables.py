"""Where the multi-byte codecs of Python and the decoders of browsers disagree on a character.

Found by comparing every pair of bytes with the indexes of the WHATWG Encoding standard, section 5.
"""

from __future__ import annotations

# Python's Big5-HKSCS is the edition of 2004; browsers know that of 2008, the control pictures and
# the duplicates of other supplements, and map some signs of area A1 and A2 otherwise. A run begins
# at a pair of bytes, given in hexadecimal digits.
_BIG5 = """\
877a:㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆
87be:㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋
8e69:箸 8e6f:簆 8e7e:糎 8eab:緒 8eb4:縝 8ecd:者 8ed0:耨 8f57:菁 8f69:蒨 8f6e:萏 8fcb:覦覩
8ffe:起 906d:都 907a:銹 90dc:靜 90f1:響 91bf:鼖 9244:蔃 92af:兙兛兝兞 92c8:鍮 92d1:瑹
9447:浧 94ca:禛 95d9:邗 9644:靝 96ed:瀞 96fc:嬨 9b76:爁 9b78:矗 9b7b:纇 9bc6:駖 9bde:釔
9bec:惞 9bf6:澶 9c42:輶 9c53:侻 9c62:營 9c68:鄄 9c6b:鷰 9c77:菏 9cbc:尐秣 9cd0:婧 9d57:輋
9d5a:筑 9dc4:拐 9ea9:恢 9eef:痹 9efd:汊 9f60:鬮 9f66:鼗 9fcb:僭 9fd8:弌 a063:蠏 a077:拎
a0d5:瑨 a0df:煢 a0e4:牐 a145:\u2027 a14e:\ufe51
a1c2:\u00af a1e3:\uff5e a1f2:\u2295\u2299 a241:\u2215\ufe68 a244:\uffe5 a246:\uffe0\uffe1
a3c0:␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ c6cf:廴 c6d3:无 c6d5:癶 c6d7:隶 c6de:〃仝 fa5f:倩
fa66:偽 fabd:包 fac5:卄 fad5:卿 fb48:嘅 fbb8:婷 fbf3:幵 fbf9:廐 fc4f:彘 fc6c:悤 fcb9:撐
fce2:晴 fcf1:杞 fdb7:沜渝 fdbb:港 fdf1:煮 fe52:猪 fe6f:瑜 feaa:瓩 fedd:砉
"""

# Python's GB 18030 is the edition of 2000, which had no code points yet for some characters.
GB18030 = {
    b"\xa3\xa0": "\u3000",
    b"\xa8\xbc": "\u1e3f",
    b"\xfe\x59": "\u9fb4",
    b"\xfe\x61": "\u9fb5",
    b"\xfe\x66": "\u9fb6",
    b"\xfe\x67": "\u9fb7",
    b"\xfe\x6d": "\u9fb8",
    b"\xfe\x7e": "\u9fb9",
    b"\xfe\x90": "\u9fba",
    b"\xfe\xa0": "\u9fbb",
    b"\xa6\xd9": "\ufe10",
    b"\xa6\xda": "\ufe12",
    b"\xa6\xdb": "\ufe11",
    b"\xa6\xdc": "\ufe13",
    b"\xa6\xdd": "\ufe14",
    b"\xa6\xde": "\ufe15",
    b"\xa6\xdf": "\ufe16",
    b"\xa6\xec": "\ufe17",
    b"\xa6\xed": "\ufe18",
    b"\xa6\xf3": "\ufe19",
    b"\x81\x35\xf4\x37": "\ue7c7",
}


def big5_patches() -> dict[bytes, str]:
    """The pairs of bytes that browsers read as another character than Python does."""
    patches: dict[bytes, str] = {}
    for run in _BIG5.split():
        start, characters = run.split(":", 1)
        lead, trail = bytes.fromhex(start)
        for character in characters:
            patches[bytes((lead, trail))] = character
            trail = 0xA1 if trail == 0x7E else trail + 1
    return patches
