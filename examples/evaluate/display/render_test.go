package display

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var (
	full      = &Wait{"MaxUnavailable", "maxUnavailable 2: 2 pods at the update revision are unavailable already"}
	partition = &Wait{"Partition", "partition 2: 2 pods stay at the old revision"}
)

// rolling is a rollout half way.
func rolling() View {
	row := func(name, revision, image, state string, mood Mood, restarts int32, n int, wait *Wait) Row {
		return Row{name, revision, image, state, mood, restarts, "node-0", fmt.Sprint("10.64.0.", n), wait}
	}
	return View{
		Step: "2/3  partition 2: some pods move", Elapsed: 3260 * time.Millisecond,
		Replicas: 6, Updated: 3, Ready: 4, Unavailable: 2, MaxUnavailable: 2, MostUnavailable: 2,
		Rows: []Row{
			row("web-2ln9q", "5894787555", "nginx:1.10", "ready", Changed, 1, 4, nil),
			row("web-6cflc", "5894787555", "nginx:1.10", "updating", Moving, 0, 2, nil),
			row("web-89zsc", "5894787555", "nginx:1.10", "ErrImagePull", Broken, 0, 8, nil),
			row("web-c2q6v", "7ff58f75b9", "nginx:1.9", "ready", Old, 0, 1, full),
			row("web-grhhh", "7ff58f75b9", "nginx:1.9", "ready", Old, 0, 10, partition),
			row("web-jp5ph", "7ff58f75b9", "nginx:1.9", "ready", Old, 12, 6, partition),
		},
	}
}

func text(lines []Line) string {
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintln(&out, line.Text)
	}
	return out.String()
}

func TestRender(t *testing.T) {
	cases := map[string]struct {
		width, height int
		edit          func(*View)
		want          string
	}{
		"wide: rules are named": {width: 120, want: `
2/3  partition 2: some pods move                                                                                   3.2 s
[#~!...] 3 of 6 updated, 4 ready, 2 unavailable (allowed 2, at most 2 so far)

POD        REVISION    IMAGE       STATE         RESTARTS  NODE    IP          WAITS
web-2ln9q  5894787555  nginx:1.10  ready                1  node-0  10.64.0.4
web-6cflc  5894787555  nginx:1.10  updating             0  node-0  10.64.0.2
web-89zsc  5894787555  nginx:1.10  ErrImagePull         0  node-0  10.64.0.8
web-c2q6v  7ff58f75b9  nginx:1.9   ready                0  node-0  10.64.0.1   a MaxUnavailable
web-grhhh  7ff58f75b9  nginx:1.9   ready                0  node-0  10.64.0.10  b Partition
web-jp5ph  7ff58f75b9  nginx:1.9   ready               12  node-0  10.64.0.6   b Partition

a  1 pod waits: maxUnavailable 2: 2 pods at the update revision are unavailable already
b  2 pods wait: partition 2: 2 pods stay at the old revision
`},
		"84 columns: letters": {width: 84, want: `
2/3  partition 2: some pods move                                               3.2 s
[#~!...] 3 of 6 updated, 4 ready, 2 unavailable (allowed 2, at most 2 so far)

POD        REVISION    IMAGE       STATE         RESTARTS  NODE    IP          WHY
web-2ln9q  5894787555  nginx:1.10  ready                1  node-0  10.64.0.4
web-6cflc  5894787555  nginx:1.10  updating             0  node-0  10.64.0.2
web-89zsc  5894787555  nginx:1.10  ErrImagePull         0  node-0  10.64.0.8
web-c2q6v  7ff58f75b9  nginx:1.9   ready                0  node-0  10.64.0.1   a
web-grhhh  7ff58f75b9  nginx:1.9   ready                0  node-0  10.64.0.10  b
web-jp5ph  7ff58f75b9  nginx:1.9   ready               12  node-0  10.64.0.6   b

a  1 pod waits: maxUnavailable 2: 2 pods at the update revision are unavailable
   already
b  2 pods wait: partition 2: 2 pods stay at the old revision
`},
		"79 columns: no revision": {width: 79, want: `
2/3  partition 2: some pods move                                          3.2 s
[#~!...] 3 of 6 updated, 4 ready, 2 unavailable (allowed 2, at most 2 so far)

POD        IMAGE       STATE         RESTARTS  NODE    IP          WHY
web-2ln9q  nginx:1.10  ready                1  node-0  10.64.0.4
web-6cflc  nginx:1.10  updating             0  node-0  10.64.0.2
web-89zsc  nginx:1.10  ErrImagePull         0  node-0  10.64.0.8
web-c2q6v  nginx:1.9   ready                0  node-0  10.64.0.1   a
web-grhhh  nginx:1.9   ready                0  node-0  10.64.0.10  b
web-jp5ph  nginx:1.9   ready               12  node-0  10.64.0.6   b

a  1 pod waits: maxUnavailable 2: 2 pods at the update revision are unavailable
   already
b  2 pods wait: partition 2: 2 pods stay at the old revision
`},
		"narrow and low: pods are left out, and counted": {width: 40, height: 13, want: `
2/3  partition 2: some pods move   3.2 s
[#~!...] 3 of 6 updated, 4 ready, 2 u...

POD        IMAGE       STATE         WHY
web-2ln9q  nginx:1.10  ready
web-6cflc  nginx:1.10  updating
... and 4 more pods

a  1 pod waits: maxUnavailable 2: 2 pods
   at the update revision are
   unavailable already
b  2 pods wait: partition 2: 2 pods stay
   at the old revision
`},
		"no pods yet, and a note": {width: 79, edit: func(v *View) {
			*v = View{Step: "1/3  create", Replicas: 6, Unavailable: 6, MaxUnavailable: -1, MostUnavailable: -1,
				Notes: []string{"spec.selector: is empty; it must select the labels of the template"}}
		}, want: `
1/3  create
0 of 6 updated, 0 ready, 6 unavailable

! spec.selector: is empty; it must select the labels of the template
`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := rolling()
			if c.edit != nil {
				c.edit(&v)
			}
			lines := Render(v, c.width, c.height)
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), text(lines)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line.Text); n > c.width {
					t.Errorf("line of %d runes, want at most %d: %s", n, c.width, line.Text)
				}
			}
			if c.height > 0 && len(lines) > c.height {
				t.Errorf("%d lines, want at most %d", len(lines), c.height)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	var got []Style
	for _, line := range Render(rolling(), 120, 0) {
		got = append(got, line.Style)
	}
	want := []Style{Title, Plain, Plain, Head, Good, Busy, Bad, Plain, Plain, Plain, Plain, Plain, Plain}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("styles (-want +got):\n%s", diff)
	}
}

func TestLetter(t *testing.T) {
	for n, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 52: "ba"} {
		if got := letter(n); got != want {
			t.Errorf("letter(%d): got %q, want %q", n, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	cases := map[string]struct {
		text  string
		width int
		want  string
	}{
		"short":                         {"one two", 7, "one two\n"},
		"between words":                 {"one two three", 8, "one two\nthree\n"},
		"below what follows a gap":      {"  ok  one two three four five", 24, "  ok  one two three four\n      five\n"},
		"a word that is too long stays": {"a /very/long/path b", 8, "a\n/very/long/path\nb\n"},
		"empty":                         {"", 8, "\n"},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, text(wrap(c.text, c.width, Plain))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
