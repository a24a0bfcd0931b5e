// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// Convert converts an object to a version.
type Convert = func(object []byte, version string) ([]byte, error)

// PlayConversions plays what objects are in another version, in the files of a folder. To accept a change of behaviour, run the test with -rewrite and
// read the difference.
//
//	convert KIND from=v1alpha1 to=v1beta1 [back]
//
// A line is an object as JSON, without apiVersion and kind, or with them if it is from=none. "nothing" is no object at all. Behind # stands what the line
// shows. With back it becomes in its own version again what it was, and the same in the other one.
func PlayConversions(t *testing.T, folder string, kinds map[string]Convert) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			kind, from := d.CmdArgs[0].Key, version(d, "from")
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				object, name, _ := strings.Cut(strings.TrimSpace(line), " # ")
				if object == "nothing" {
					object = ""
				}
				if from != "" {
					object = fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s`, from, kind, object[1:])
				}
				fmt.Fprintf(&out, "%s:\n    %s\n", name, converted(t, d, kinds[kind], object))
			}
			return out.String()
		})
	})
}

// version is that of an argument, empty for none.
func version(d *datadriven.TestData, key string) (version string) {
	for _, arg := range d.CmdArgs {
		if value := strings.Join(arg.Vals, ""); arg.Key == key && value != "" && value != "none" {
			version = "apps.kruise.io/" + value
		}
	}
	return version
}

// converted is an object in another version, or why there is none.
func converted(t *testing.T, d *datadriven.TestData, convert Convert, object string) string {
	t.Helper()
	from, to := version(d, "from"), version(d, "to")
	got, err := convert([]byte(object), to)
	if err != nil {
		return err.Error()
	}
	for version, object := range map[string]string{from: object, to: string(got)} {
		if same, err := convert([]byte(object), version); err != nil || string(same) != object {
			t.Errorf("%s: in its own version %s became %s, error %v", d.Pos, object, same, err)
		}
	}
	if d.HasArg("back") {
		back, err := convert(got, from)
		if err != nil {
			t.Fatalf("%s: %s does not come back: %v", d.Pos, got, err)
		}
		if diff := cmp.Diff(Tree(t, []byte(object)), Tree(t, back)); diff != "" {
			t.Errorf("%s: it comes back otherwise (-want +got):\n%s", d.Pos, diff)
		}
		if again, err := convert(back, to); err != nil || string(again) != string(got) {
			t.Errorf("%s: the same object gave\n%s and then\n%s, error %v", d.Pos, got, again, err)
		}
	}
	return string(got)
}

// Tree decodes JSON, numbers as they are written.
func Tree(t *testing.T, data []byte) (out any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return out
}
