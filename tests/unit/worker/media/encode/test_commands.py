"""Command lines: whole ones where every word matters, else the words that must not be missing."""

import shlex
from fractions import Fraction
from pathlib import Path

from msgspec import structs

from tests.unit.worker.media.encode.builders import GRID, PLAN, RUNGS, job, report, video
from worker.media.encode import encoders
from worker.media.encode.cut import cut
from worker.media.encode.encoders import Encoder
from worker.media.encode.ladder import ladder_command
from worker.media.encode.remux import Parts, remux_command
from worker.media.encode.sound import SoundOptions, sound_command
from worker.media.report import AudioStream


def ladder(chunk: int = 0, encoder: Encoder = Encoder.X264) -> list[str]:
    part = cut(GRID, chunk, report(), video(), longest_ms=60_000)
    return list(ladder_command(job(), PLAN, part, video(), encoder).argv)


def test_x264() -> None:
    assert shlex.join(encoders.options(Encoder.X264, PLAN, RUNGS[0])) == (
        "-c:v libx264 -preset fast -crf 23 -profile:v high -sc_threshold 0 "
        "-g 60 -keyint_min 60 -force_key_frames 'expr:gte(n,n_forced*60)' "
        "-bsf:v 'setts=pts=PTS:dts=(N-2)*DURATION'"
    )


def test_nvenc_with_a_cap() -> None:
    assert shlex.join(encoders.options(Encoder.NVENC, PLAN, RUNGS[1])) == (
        "-c:v h264_nvenc -preset p5 -tune hq -rc vbr -cq 21 -b:v 0 -profile:v high "
        "-no-scenecut 1 -strict_gop 1 -forced-idr 1 -bf 2 -maxrate 3000k -bufsize 6000k "
        "-g 60 -keyint_min 60 -force_key_frames 'expr:gte(n,n_forced*60)' "
        "-bsf:v 'setts=pts=PTS:dts=(N-2)*DURATION'"
    )


def test_a_whole_nvenc_ladder() -> None:
    argv = ladder(encoder=Encoder.NVENC)
    outputs = argv[argv.index("-map") :]

    assert outputs.count("h264_nvenc") == 2
    assert "libx264" not in outputs
    assert shlex.join(outputs).startswith(
        "-map '[v0]' -fps_mode passthrough -c:v h264_nvenc -preset p5 -tune hq -rc vbr -cq 23 -b:v 0"
    )
    assert shlex.join(outputs).endswith(
        "-threads 2 -map_metadata -1 -map_chapters -1 -bitexact -output_ts_offset 1.000000 "
        "-f hls -hls_segment_type fmp4 -hls_playlist_type vod -hls_time 4.004000 "
        "-hls_flags independent_segments -hls_segment_options movflags=+frag_discont -start_number 0 "
        "-hls_fmp4_init_filename init.mp4 -hls_segment_filename 720/%05d.m4s 720/playlist.m3u8"
    )


def test_a_later_chunk_knows_its_place() -> None:
    line = shlex.join(ladder(1))

    assert "-noaccurate_seek -ss 8.008000 -i file:/scratch/source" in line
    assert line.count("-output_ts_offset 9.008000") == 2
    assert line.count("-start_number 2") == 2


def test_there_is_one_input_and_it_is_opened_with_care() -> None:
    argv = ladder()
    before = argv[: argv.index("-i")]

    assert argv.count("-i") == 1
    assert {"-protocol_whitelist", "-format_whitelist", "-max_pixels", "-max_alloc"} <= set(before)


def test_threads_are_bounded_everywhere() -> None:
    argv = ladder()

    assert argv.count("-threads") == 3
    assert "-filter_complex_threads" in argv
    assert argv.index("-threads") < argv.index("-i")


def sound(options: SoundOptions, **changes: object) -> str:
    stream = AudioStream(index=2, codec="ac3", channels=6, sample_rate=48_000, start_ms=1_500)
    return shlex.join(sound_command(job(), structs.replace(stream, **changes), options).argv)


def test_sound_is_stereo_and_on_the_files_timeline() -> None:
    line = sound(SoundOptions(segment_s=Fraction(1001, 250)))

    assert "-map 0:2 -vn" in line
    assert "-af asetpts=PTS-STARTPTS+1.500/TB,aresample=async=1:first_pts=0 " in line
    assert "-c:a aac -b:a 128k -ac 2 -ar 48000" in line
    assert "-output_ts_offset 1.000000" in line
    assert "-hls_time 4.004000" in line


def test_odd_sample_rates_become_48_khz() -> None:
    assert "-ar 44100" in sound(SoundOptions(segment_s=Fraction(4)), sample_rate=44_100)
    assert "-ar 48000" in sound(SoundOptions(segment_s=Fraction(4)), sample_rate=8_000)
    assert "-ar 48000" in sound(SoundOptions(segment_s=Fraction(4)), sample_rate=96_000)


def test_loudness_is_normalised_where_asked() -> None:
    line = sound(SoundOptions(segment_s=Fraction(4), loudness_lufs=-16.0))

    assert "first_pts=0,loudnorm=I=-16.0:TP=-1.5:LRA=11" in line
    assert "loudnorm" not in sound(SoundOptions(segment_s=Fraction(4)))


def test_remux_keeps_both_on_one_clock() -> None:
    parts = Parts(pictures=Path("/s/720.mp4"), sound=Path("/s/audio.mp4"), seconds=10.0)
    line = shlex.join(remux_command(parts, Path("/s/out.mp4"), job().engine).argv)

    assert line.index("-copyts") < line.index("-i file:/s/720.mp4") < line.index("-i file:/s/audio.mp4")
    assert line.endswith(
        "-map 0:0 -map 1:0 -c copy -t 11.000 -output_ts_offset -1 "
        "-movflags +faststart -map_metadata -1 -bitexact -f mp4 file:/s/out.mp4"
    )
    assert "libx264" not in line
