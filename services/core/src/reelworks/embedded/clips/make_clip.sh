#!/bin/sh
# Makes speech.mp4, the clip that `make demo` and `make smoke` send through the pipeline: speech.txt, spoken, over a
# moving test picture. It is checked in, so only who wants to change it needs flite and ffmpeg.
#
# The sentence was chosen among twenty: pocketsphinx got it right word by word through every AAC bit rate, volume and
# speed that was tried.
set -eu
cd "$(dirname "$0")"
ffmpeg=${FFMPEG:-ffmpeg}
voice=$(mktemp --suffix=.wav)
trap 'rm -f "$voice"' EXIT
flite -voice slt -f speech.txt -o "$voice"
# Half a second of silence first, and some at the end, as in a real recording. 12 pictures a second keep it small;
# faststart puts the index in front; bitexact keeps dates and versions out and one thread keeps x264 deterministic,
# so the same tools make the same bytes.
"$ffmpeg" -hide_banner -v error -nostdin -y \
    -f lavfi -t 5 -i "testsrc=size=320x180:rate=12" -i "$voice" \
    -af "adelay=500:all=1,apad=whole_dur=5" \
    -c:v libx264 -preset veryslow -crf 30 -threads 1 -pix_fmt yuv420p \
    -c:a aac -b:a 64k -ar 48000 -ac 1 \
    -movflags +faststart -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
    speech.mp4
