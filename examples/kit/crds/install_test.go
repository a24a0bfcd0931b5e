// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNotEstablished(t *testing.T) {
	type conditions = []any
	condition := func(kind, status, message string) any {
		return map[string]any{"type": kind, "status": status, "message": message}
	}
	cases := map[string]struct {
		conditions conditions
		want       string // "": established
	}{
		"established":      {conditions{condition("NamesAccepted", "True", ""), condition("Established", "True", "")}, ""},
		"new":              {nil, "no condition Established yet"},
		"not yet":          {conditions{condition("Established", "False", "installing")}, "Established is False: installing"},
		"a name is taken":  {conditions{condition("NamesAccepted", "False", `"clone" is in use`)}, `NamesAccepted is False: "clone" is in use`},
		"of another shape": {conditions{"x"}, "no condition Established yet"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			definition := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": c.conditions}}}
			err := notEstablished(definition)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("notEstablished gives %v, want %q", err, c.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	named := func(names ...string) (definitions []*unstructured.Unstructured) {
		for _, name := range names {
			definition := &unstructured.Unstructured{}
			definition.SetName(name)
			definitions = append(definitions, definition)
		}
		return definitions
	}
	served := schema.GroupVersionResource{Group: "g.io", Version: "v1", Resource: "foos"}
	got := Of(named("foos.g.io", "bars.g.io", "foos.other.io"), served)
	if len(got) != 1 || got[0].GetName() != "foos.g.io" {
		t.Errorf("got %v", got)
	}
	if got := Of(named("foos.g.io")); len(got) != 0 {
		t.Errorf("nothing is served, got %v", got)
	}
}
