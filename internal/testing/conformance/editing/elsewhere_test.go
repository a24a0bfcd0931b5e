// SPDX-License-Identifier: Apache-2.0

package editing

import (
	"errors"
	"os"
	"testing"
)

// What a table says that is edited elsewhere is believed only of a test that there is and that names the field.
func TestNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	file := "a_test.go"
	for script, text := range map[string]string{"played": "edit\ntopology: {limit: 1}\n", "mentioned": "# the limit of a topology\n"} {
		if err := errors.Join(os.MkdirAll("testdata/"+script, 0o700), os.WriteFile("testdata/"+script+"/a.txt", []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(`package a
func TestByScript(t *testing.T) { play("testdata/played") }
func TestByComment(t *testing.T) { play("testdata/mentioned") }
func TestDirect(t *testing.T) { edit("{spec: {topology: {limit: 1}}}") }
func TestByTable(t *testing.T) { for _, c := range cases { edit(c) } }
func TestByField(t *testing.T) { newSet().Spec.Topology.Limit = 1 }
func TestOther(t *testing.T) { edit("{spec: {topology: {limits: 1}}}") }
func edit(patch string) { edit(patch) }
var cases = []string{"{topology: {limit: 1}}"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for test, want := range map[string]string{
		"TestByScript": "", "TestByComment": "TestByComment does not name topology",
		"TestDirect": "", "TestByTable": "", "TestByField": "", "TestOther": "TestOther does not name limit", "TestGone": `there is no test "TestGone"`, "edit": `there is no test "edit"`,
	} {
		got := ""
		if err := named("topology.limit", test, file); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", test, got, want)
		}
	}
}
