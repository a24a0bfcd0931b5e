// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

func TestString(t *testing.T) {
	var p podpatch.Patch
	if got := p.String(); got != "no change" {
		t.Errorf("an empty patch: %q", got)
	}
	p.Metadata = []byte(`{"metadata":{"labels":{"c":null}}}`)
	p.SetLabel("b", "2")
	p.SetLabel("a", "")
	p.SetAnnotation("note", "two\nlines")
	p.RemoveAnnotation("gone")
	p.AddFinalizers = []string{"example.com/f"}
	p.AddOwner = &metav1.OwnerReference{Kind: "CloneSet", Name: "web", UID: "u"}
	p.RemoveOwner = "o1"
	p.SetImage("web", "web:2")
	p.SetImage("log", "log:2")
	p.SetResources("web", cpu("2", "1"))
	p.SetResources("web", cpu("", "3"))
	p.SetCondition(condition("A", "False", "Why", "because"))
	p.SetCondition(condition("B", "True", "", ""))
	p.SetCondition(condition("C", "True", "", "so"))
	p.IfUnchanged = true
	want := strings.Split(`set condition A=False (Why: because)
set condition B=True
set condition C=True (so)
merge {"metadata":{"labels":{"c":null}}}
set label a=
set label b=2
remove annotation gone
set annotation note="two\nlines"
add finalizer example.com/f
remove owner with UID o1
add owner CloneSet web
set image of container log to log:2
set image of container web to web:2
resize container web to limits.cpu 2, requests.cpu 3
only if the pod is as it was read`, "\n")
	if diff := cmp.Diff(want, strings.Split(p.String(), "\n")); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	p.Throughout = true
	if !strings.HasSuffix(p.String(), "\nonly if the pod is as it was read, and stays so") {
		t.Errorf("throughout: %s", p.String())
	}
}
