// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecorded wants the picture that follows from the text of the recorded run. That the text is what the demo prints is a test
// beside the demo.
func TestRecorded(t *testing.T) {
	printed, err := os.ReadFile("../recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := draw(string(printed))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../recorded.svg")
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
		t.Errorf("recorded.svg is not the picture of recorded.txt (error %v); run: go run ./evaluate/picture <evaluate/recorded.txt (-want +got):\n%s", err, diff)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil || !strings.Contains(string(readme), "](examples/evaluate/recorded.svg)") || !strings.Contains(string(readme), "](examples/evaluate/recorded.txt)") {
		t.Errorf("README.md does not show the run (error %v)", err)
	}
}

const run = `podwright: pods, on a real API server

  10.0 s  building
          the controller runs, in this process
   2.0 s  create web
[##] 2 pods
POD    IMAGE
web-a  busybox:1.36  ready
The plan now:

   3.0 s  busybox:1.37, partition 50%: half
[#.] 2 pods
POD    IMAGE
web-a  busybox:1.37  ready
web-b  busybox:1.36  ready
The plan now:
wait web-b: a < b

   3.0 s  partition 0
[##] 2 pods

The update, checked with the API server:
  ok      2 of 2 pods
   0.1 s  cleaning up
`

func TestTelling(t *testing.T) {
	want := `podwright: pods, on a real API server

  10.0 s  building
          the controller runs, in this process
   2.0 s  create web
   3.0 s  busybox:1.37, partition 50%: half
[#.] 2 pods
POD    IMAGE
web-a  busybox:1.37  ready
web-b  busybox:1.36  ready
The plan now:
wait web-b: a < b

   3.0 s  partition 0
The update, checked with the API server:
  ok      2 of 2 pods
   0.1 s  cleaning up`
	got, err := telling(run)
	if diff := cmp.Diff(want, strings.Join(got, "\n")); err != nil || diff != "" {
		t.Errorf("error %v, lines (-want +got):\n%s", err, diff)
	}
	for name, printed := range map[string]string{
		"nothing":     "",
		"interrupted": strings.Split(run, "The update")[0],
		"failed":      strings.Replace(run, "  ok    ", "  FAILED", 1),
	} {
		if _, err := telling(printed); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("evaluate", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := record(strings.NewReader(run)); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.FromSlash(text))
	if err != nil || string(kept) != run {
		t.Errorf("kept %q, error %v", kept, err)
	}
	drawn, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer drawn.Close()
	shown, decoder := "", xml.NewDecoder(drawn)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if characters, is := token.(xml.CharData); is {
			shown += string(characters)
		}
	}
	for _, want := range []string{"wait web-b: a < b", "  ok      2 of 2 pods"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in the picture:\n%s", want, shown)
		}
	}
}
