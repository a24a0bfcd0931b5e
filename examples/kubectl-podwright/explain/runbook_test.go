// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// Each section that is named is one of the runbook. (KC-25)
func TestRunbook(t *testing.T) {
	page, err := os.ReadFile("../../monitoring/RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "## "); is {
			there[strings.ToLower(name)] = true
		}
	}
	named := slices.Concat(slices.Collect(maps.Values(sections)), slices.Collect(maps.Values(sectionsOf)), []string{"heldup"})
	for _, section := range named {
		if !there[section] {
			t.Errorf("the runbook has no section %s", section)
		}
	}
}

// A cause has a section by what it is, or else by the kind; what users have asked for has none. (KC-25)
func TestRunbookOfBlockers(t *testing.T) {
	object := func(kind string) *Situation {
		return &Situation{LeaseMissing: true, LeaseName: "a/b", Object: &workload.Object{Unstructured: unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps.kruise.io/v1alpha1", "kind": kind, "metadata": map[string]any{"labels": map[string]any{"policy.kruise.io/delete-protection": "Always"}},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "HeldUp", "status": "True", "reason": "Image", "message": "x"}}},
		}}}}
	}
	for kind, want := range map[string]string{
		"BroadcastJob": "#managerabsent #heldup", "ContainerRecreateRequest": "#managerabsent", "PersistentPodState": "#managerabsent #heldup",
	} {
		var got []string
		for _, b := range Told(object(kind)) {
			if b.Code == "DeletionProtection" {
				if b.Runbook != "" || strings.Contains(b.String(), "Runbook") {
					t.Errorf("%s: %+v", kind, b)
				}
				continue
			}
			_, section, _ := strings.Cut(b.Runbook, "RUNBOOK.md")
			got = append(got, section)
			if !strings.HasSuffix(b.String(), "\n  Runbook: "+b.Runbook) {
				t.Errorf("it is printed as %s", b)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: sections %v, want %s", kind, got, want)
		}
	}
}
