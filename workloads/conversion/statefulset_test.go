// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/workloads/conversion"
)

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

// set is a StatefulSet in a version, with the given further fields.
func set(version, fields string) string {
	return `{"apiVersion":"` + version + `","kind":"StatefulSet",` + fields + `}`
}

// tree decodes JSON, numbers as they are written.
func tree(t failer, data []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return out
}

// failer is what testing.T and rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func convert(t failer, object []byte, version string) []byte {
	t.Helper()
	out, err := conversion.StatefulSet(object, version)
	if err != nil {
		t.Fatalf("converting %s to %s: %v", object, version, err)
	}
	return out
}

// kept are the annotations of a v1alpha1 object with nothing but those that keep the given parts of fields. The key of one
// names the place of the value in the part.
func kept(parts ...string) string {
	annotations := map[string]string{}
	for _, part := range parts {
		var at any
		if err := json.Unmarshal([]byte(part), &at); err != nil {
			panic(err)
		}
		var path []string
		for object, is := at.(map[string]any); is && len(object) == 1; object, is = at.(map[string]any) {
			for name, below := range object {
				path, at = append(path, name), below
			}
		}
		annotations[conversion.KeptFieldsPrefix+strings.Join(path, ".")] = part
	}
	return encode(annotations)
}

// former are the annotations of a v1alpha1 object with nothing but the one in which former releases kept all fields.
func former(fields string) string {
	return encode(map[string]string{conversion.KeptFieldsAnnotation: fields})
}

func encode(annotations map[string]string) string {
	encoded, err := json.Marshal(annotations)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// TestConversions shows what objects become in the other version, in the scripts in testdata. Their lines are the fields of the object. "back" is what
// becomes of that, if it is not the object that it was.
//
//	convert Kind v1beta1         of an object in a version
//	error Kind to=version        shows the error of what follows, unchanged
func TestConversions(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			convert := byKind[d.CmdArgs[0].Key]
			if d.Cmd == "error" {
				got, err := convert([]byte(d.Input), strings.Join(d.CmdArgs[1].Vals, ""))
				if err == nil {
					t.Errorf("no error, but %s", got)
				}
				return fmt.Sprintln(err)
			}
			from, to := alpha, beta
			if d.CmdArgs[1].Key == "v1beta1" {
				from, to = beta, alpha
			}
			var lines []string
			for line := range strings.SplitSeq(d.Input, "\n") {
				name, value, _ := strings.Cut(line, ": ")
				lines = append(lines, `"`+name+`":`+value)
			}
			object := ofKind(d.CmdArgs[0].Key, from, strings.Join(lines, ","))
			convertTo := func(object []byte, version string) []byte {
				out, err := convert(object, version)
				if err != nil {
					d.Fatalf(t, "converting %s to %s: %v", object, version, err)
				}
				return out
			}
			there := convertTo([]byte(object), to)
			back := convertTo(there, from)
			if again := convertTo(back, to); from == beta && !bytes.Equal(there, again) {
				t.Errorf("the same object gave\n%s and then\n%s", there, again)
			}
			if same := convertTo([]byte(object), from); string(same) != object {
				t.Errorf("in its own version it became %s", same)
			}
			shown := fields(t, there)
			if !cmp.Equal(tree(t, []byte(object)), tree(t, back)) {
				shown += "back\n" + fields(t, back)
			}
			return shown
		})
	})
}

// fields shows the fields of an object, numbers as they are written.
func fields(t *testing.T, object []byte) string {
	t.Helper()
	all, _ := tree(t, object).(map[string]any)
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "kind" || name == "apiVersion" {
			continue
		}
		out.WriteString(name + ": ")
		if err := encoder.Encode(all[name]); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
