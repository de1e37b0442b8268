"""Media files for tests, made with ffmpeg after the recipes of the cases and kept for the session.

Small (320x180, seconds) and quick: each takes well below a second. Every method returns a path below the directory.
"""

import shutil
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from worker.media.tools import Tools

PICTURE = "testsrc=s=320x180:r=25"
CLIPS = Path(__file__).parents[2] / "services/core/src/reelworks/embedded/clips"
"""The demo clip and its words."""


class Samples:
    def __init__(self, directory: Path, tools: Tools) -> None:
        self._directory = directory
        self._tools = tools

    def made(self, name: str, make: Callable[[Path], object]) -> Path:
        """The file of that name, made at the first call."""
        path = self._directory / name
        if not path.exists():
            partial = path.with_name(f"partial-{name}")
            make(partial)
            partial.rename(path)
        return path

    def encoded(self, name: str, *arguments: str | Path) -> Path:
        """What ffmpeg makes of these arguments."""
        return self.made(name, lambda path: self._ffmpeg(*arguments, path))

    def written(self, name: str, content: bytes) -> Path:
        return self.made(name, lambda path: path.write_bytes(content))

    def _ffmpeg(self, *arguments: str | Path) -> None:
        command = [self._tools.ffmpeg, "-v", "error", "-nostdin", "-y", *map(str, arguments)]
        subprocess.run(command, check=True, timeout=60)

    # What people upload

    def video(self, seconds: int = 4, *, name: str = "base.mp4", faststart: bool = False) -> Path:
        """H.264 and a tone."""
        sources = ("-f", "lavfi", "-i", f"{PICTURE}:d={seconds}", "-f", "lavfi", "-i", f"sine=d={seconds}")
        codecs = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac")
        return self.encoded(name, *sources, *codecs, *(("-movflags", "+faststart") if faststart else ()))

    def video_without_sound(self) -> Path:
        return self.encoded("mute.mp4", "-i", self.video(), "-c", "copy", "-an")

    def video_with_silence(self) -> Path:
        silence = ("-f", "lavfi", "-t", "4", "-i", "anullsrc=r=44100:cl=mono")
        return self.encoded(
            "silent.mp4", "-i", self.video(), *silence, "-map", "0:v", "-map", "1:a", "-c:v", "copy"
        )

    def audio(self, extension: str) -> Path:
        codec = ("-c:a", "libopus") if extension in ("ogg", "webm") else ()
        return self.encoded(f"tone.{extension}", "-f", "lavfi", "-i", "sine=d=4", *codec)

    def audio_with_cover(self, extension: str = "mp3") -> Path:
        maps = ("-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic")
        return self.encoded(f"cover.{extension}", "-i", self.audio("wav"), "-i", self.picture(), *maps)

    def two_languages(self) -> Path:
        """Silent French first, an English tone as the default."""
        silence = ("-f", "lavfi", "-t", "4", "-i", "anullsrc=r=44100:cl=mono")
        maps = (
            "-map",
            "1:a",
            "-map",
            "0:a",
            "-c:a",
            "aac",
            "-disposition:a:0",
            "0",
            "-disposition:a:1",
            "default",
        )
        tags = ("-metadata:s:a:0", "language=fre", "-metadata:s:a:1", "language=eng")
        return self.encoded("languages.mkv", "-i", self.audio("wav"), *silence, *maps, *tags)

    def surround(self) -> Path:
        return self.encoded("surround.m4a", "-i", self.audio("wav"), "-ac", "6", "-c:a", "aac")

    def late_sound(self, extension: str) -> Path:
        """The tone begins 1.5 s after the picture."""
        inputs = ("-i", self.video(), "-itsoffset", "1.5", "-i", self.video())
        return self.encoded(f"late.{extension}", *inputs, "-map", "0:v", "-map", "1:a", "-c", "copy")

    def edit_list(self) -> Path:
        """Cut without re-encoding in the middle of a group of pictures."""
        return self.encoded("edited.mp4", "-ss", "2.3", "-i", self.video(8, name="eight.mp4"), "-c", "copy")

    def many_kinds_of_streams(self) -> Path:
        """Picture, sound, subtitles, an attachment."""
        subtitles = self.subtitles()
        attachment = ("-attach", self.text(), "-metadata:s:t", "mimetype=text/plain")
        inputs = ("-i", self.video(), "-f", "srt", "-i", subtitles)
        return self.encoded(
            "kinds.mkv", *inputs, "-map", "0", "-map", "1", "-c", "copy", "-c:s", "srt", *attachment
        )

    def timecode(self) -> Path:
        return self.encoded("timecode.mov", "-i", self.video(), "-c", "copy", "-timecode", "01:00:00:00")

    def one_frame(self) -> Path:
        return self.encoded(
            "frame.mp4", "-f", "lavfi", "-i", PICTURE, "-frames:v", "1", "-pix_fmt", "yuv420p"
        )

    def animation(self) -> Path:
        return self.encoded("moving.gif", "-f", "lavfi", "-i", f"{PICTURE}:d=1")

    # Pictures with something special about them

    def drawn(self, name: str, picture: str, *options: str) -> Path:
        """A second or so of a test picture from lavfi, without sound."""
        return self.encoded(name, "-f", "lavfi", "-i", picture, *options)

    def h264(self, name: str, picture: str, *options: str) -> Path:
        return self.drawn(name, picture, "-c:v", "libx264", "-preset", "ultrafast", *options)

    def turned(self, *orientation: str, name: str) -> Path:
        """The base file with a display matrix: `-display_rotation -90`, `-display_hflip`."""
        return self.encoded(name, *orientation, "-i", self.video(), "-c", "copy")

    def odd(self) -> Path:
        return self.h264("odd-444.mp4", "testsrc=s=641x361:d=1", "-pix_fmt", "yuv444p")

    def anamorphic(self) -> Path:
        return self.h264("wide-pixels.mp4", "testsrc=s=720x576:d=1,setsar=64/45,format=yuv420p")

    def hdr(self, transfer: str = "smpte2084") -> Path:
        colours = f"setparams=color_primaries=bt2020:color_trc={transfer}:colorspace=bt2020nc:range=tv"
        return self.h264(f"hdr-of-{transfer}.mp4", f"{PICTURE}:d=1,format=yuv420p10le,{colours}")

    def interlaced(self, extension: str = "mp4") -> Path:
        fields = ("-vf", "format=yuv420p,tinterlace=interleave_top", "-flags", "+ildct+ilme")
        codec = "libx264" if extension == "mp4" else "mpeg2video"
        source = "testsrc=s=320x180:r=50:d=1"
        return self.drawn(f"fields.{extension}", source, *fields, "-c:v", codec)

    def variable_rate(self) -> Path:
        """Two seconds at 30 a second, then two at 10."""
        thinned = "testsrc=s=320x180:d=4:r=30,select='if(lt(t,2),1,not(mod(n,3)))',format=yuv420p"
        return self.h264("thinned.mp4", thinned, "-fps_mode", "vfr")

    def at_rate(self, rate: str, seconds: int = 1, extension: str = "mp4") -> Path:
        source = f"testsrc=s=320x180:r={rate}:d={seconds},format=yuv420p"
        return self.h264(f"rate-{rate.replace('/', '-')}.{extension}", source)

    def counted_twice(self) -> Path:
        """An AVI whose header says 600 frames a second."""
        return self.encoded(
            "packed.avi", "-i", self.h264("b.mp4", f"{PICTURE}:d=4", "-bf", "2"), "-c", "copy"
        )

    def one_keyframe(self) -> Path:
        """A minute of 2 frames a second with a keyframe only at its start."""
        source = "testsrc=s=320x180:r=2:d=60,format=yuv420p"
        return self.h264("one-keyframe.mp4", source, "-g", "1000", "-sc_threshold", "0")

    def transparent(self, extension: str) -> Path:
        codecs = {
            "webm": ("format=yuva420p", "libvpx-vp9", "-deadline", "realtime"),
            "mov": ("format=yuva444p10le", "prores_ks"),
        }
        pixels, codec, *options = codecs[extension]
        source = f"color=red@0.5:s=64x64:r=25:d=1,{pixels}"
        return self.drawn(f"see-through.{extension}", source, "-c:v", codec, *options)

    def still_with_sound(self, extension: str = "mp4") -> Path:
        """One frame; the tone goes on for ten seconds."""
        maps = ("-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac")
        return self.encoded(
            f"one-frame-and-sound.{extension}", "-i", self.picture(), "-f", "lavfi", "-i", "sine=d=10", *maps
        )

    def slides(self) -> Path:
        """A still repeated once a second, with a minute of sound."""
        loop = ("-loop", "1", "-framerate", "1", "-i", self.picture())
        sound = ("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono")
        codecs = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac")
        return self.encoded("still-repeated.mp4", *loop, *sound, "-t", "60", *codecs)

    def animation_of_one(self) -> Path:
        return self.drawn("does-not-move.gif", PICTURE, "-frames:v", "1")

    def fragmented(self) -> Path:
        return self.encoded(
            "in-fragments.mp4", "-i", self.video(), "-c", "copy", "-movflags", "empty_moov+frag_keyframe"
        )

    # Lengths that are not what the header says

    def without_length(self) -> Path:
        """As a browser's MediaRecorder writes it: no duration, no index."""
        return self.encoded("no-length.mkv", "-i", self.video(), "-c", "copy", "-live", "1")

    def declared(self, seconds: float, extension: str) -> Path:
        """The base file (4 s) with another duration in its header."""
        whole = self.encoded(f"honest.{extension}", "-i", self.video(), "-c", "copy")
        marks = {"mkv": (b"\x44\x89\x88", 1_000), "flv": (b"duration\0", 1)}
        mark, unit = marks[extension]
        data = bytearray(whole.read_bytes())
        place = data.index(mark) + len(mark)
        data[place : place + 8] = struct.pack(">d", seconds * unit)
        return self.written(f"declared-{seconds:g}.{extension}", bytes(data))

    def png(self, width: int = 64, height: int = 32, declared: int | None = None) -> Path:
        """One colour, made without ffmpeg: some builds cannot. `declared`: a width that is not true."""

        def chunk(kind: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = struct.pack(">IIBBBBB", declared or width, height, 8, 2, 0, 0, 0)
        rows = zlib.compress((b"\0" + b"\x40\x80\xc0" * width) * height)
        chunks = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
        return self.written(f"plain-{declared or width}x{height}.png", b"\x89PNG\r\n\x1a\n" + chunks)

    def photo(self, orientation: int) -> Path:
        """A JPEG whose Exif says how the camera was held (1-8)."""
        tag = struct.pack(">HHHIHH", 1, 0x0112, 3, 1, orientation, 0)
        exif = b"Exif\0\0MM\0*\0\0\0\x08" + tag + bytes(4)
        jpeg = self.picture().read_bytes()
        header = b"\xff\xe1" + struct.pack(">H", len(exif) + 2)
        return self.written(f"held-{orientation}.jpg", jpeg[:2] + header + exif + jpeg[2:])

    def silence(self, seconds: int) -> Path:
        source = ("-f", "lavfi", "-t", str(seconds), "-i", "anullsrc=r=16000:cl=mono")
        return self.encoded(f"silence-{seconds}.wav", *source, "-c:a", "pcm_s16le")

    def white_noise(self) -> Path:
        return self.encoded("noise.wav", "-f", "lavfi", "-i", "anoisesrc=r=16000:d=6:a=0.1:seed=1")

    # What should not have been uploaded

    def without_index(self) -> Path:
        return self.cut("no-moov.mp4", self.video(), 0.5)

    def cut_in_the_middle(self, extension: str = "mp4") -> Path:
        """Everything that declares the length is there, half of the rest is missing."""
        whole = self.video(12, name=f"whole-12.{extension}", faststart=extension == "mp4")
        return self.cut(f"half-of-12.{extension}", whole, 0.5)

    def cut(self, name: str, whole: Path, share: float) -> Path:
        data = whole.read_bytes()
        return self.written(name, data[: int(len(data) * share)])

    def empty(self) -> Path:
        return self.written("empty.mp4", b"")

    def text(self) -> Path:
        return self.written("notes.mp4", "Größe und Maß, line by line\n".encode() * 200)

    def noise_bytes(self) -> Path:
        """Bytes that are nothing, always the same."""
        return self.written("random.mp4", bytes((i * i * 31 + i * 7) % 256 for i in range(50_000)))

    def archive(self) -> Path:
        def make(path: Path) -> None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("video.mp4", b"0" * 1000)

        return self.made("zip.mp4", make)

    def picture(self) -> Path:
        return self.encoded("picture.jpg", "-f", "lavfi", "-i", PICTURE, "-frames:v", "1")

    def picture_as_video(self) -> Path:
        return self.made("picture.mp4", lambda path: shutil.copy(self.picture(), path))

    def subtitles(self) -> Path:
        return self.written("subtitles.mp4", b"1\n00:00:00,000 --> 00:00:01,000\nhello\n\n")

    def bomb(self) -> Path:
        """1.5 MB that decode to 16000x16000 pixels."""
        return self.encoded("bomb.mov", "-i", self.picture_bomb(), "-c", "copy")

    def picture_bomb(self) -> Path:
        return self.encoded("huge.jpg", "-f", "lavfi", "-i", "color=s=16000x16000", "-frames:v", "1")

    def vector_picture(self, target: str) -> bytes:
        """An SVG that names something else to load."""
        space = 'xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"'
        return f'<svg {space} width="9" height="9"><image x:href="{target}" width="9" height="9"/></svg>'.encode()

    def many_tracks(self, count: int) -> Path:
        short = self.encoded("short.wav", "-f", "lavfi", "-i", "sine=d=0.1")
        return self.encoded(f"tracks-{count}.mkv", "-i", short, *("-map", "0:a") * count, "-c:a", "flac")

    def only_subtitles(self) -> Path:
        return self.encoded("only-subtitles.mkv", "-f", "srt", "-i", self.subtitles())

    def flipped(self, seed: int) -> Path:
        """The base file with one bit in 2,000 turned over."""
        data = bytearray(self.video().read_bytes())
        state = seed * 2_654_435_761 + 1
        for _ in range(len(data) * 8 // 2_000):
            state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
            data[(state >> 16) % len(data)] ^= 1 << (state >> 60) % 8
        return self.written(f"flipped-{seed}.mp4", bytes(data))


def playlists(target: str) -> dict[str, bytes]:
    """Texts that make some demuxer open `target`: a URL or a path."""
    hls = f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n{target}\n#EXT-X-ENDLIST\n"
    concat = f"ffconcat version 1.0\nfile '{target}'\nduration 4\n"
    segment = f"<BaseURL>{target}</BaseURL>"
    dash = f'<?xml version="1.0"?>\n<MPD type="static"><Period>{segment}</Period></MPD>'
    return {
        "hls": hls.encode(),
        "hls after a byte order mark": b"\xef\xbb\xbf" + hls.encode(),
        "hls after blank lines": b"\n\r\n  " + hls.encode(),
        "ffconcat": concat.encode(),
        "dash": dash.encode(),
        "sdp": b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
        "pls": f"[playlist]\nFile1={target}\n".encode(),
        "asx": f'<asx version="3"><entry><ref href="{target}"/></entry></asx>'.encode(),
        "smil": f'<smil><body><video src="{target}"/></body></smil>'.encode(),
    }
