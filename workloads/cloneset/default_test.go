// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// parseSet decodes a CloneSet.
func parseSet(t testing.TB, text string) *v1alpha1.CloneSet {
	t.Helper()
	set := &v1alpha1.CloneSet{}
	if err := json.Unmarshal([]byte(text), set); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return set
}

func TestDefaultOfSpec(t *testing.T) {
	const strategy = `"updateStrategy":{"type":"ReCreate","partition":0,"maxUnavailable":"20%","maxSurge":0}`
	for _, tt := range []struct{ name, in, want string }{
		{"every field open", `{}`, `{"replicas":1,"revisionHistoryLimit":10,` + strategy + `}`},
		{"spec.replicas: 0 stays", `{"replicas":0}`, `{"replicas":0,"revisionHistoryLimit":10,` + strategy + `}`},
		{"spec.revisionHistoryLimit: 0 stays", `{"revisionHistoryLimit":0}`, `{"replicas":1,"revisionHistoryLimit":0,` + strategy + `}`},
		{"spec.scaleStrategy.maxUnavailable: no limit", `{"scaleStrategy":{"podsToDelete":["a"]}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"scaleStrategy":{"podsToDelete":["a"]},` + strategy + `}`},
		{"spec.updateStrategy: what is set stays", `{"updateStrategy":{"type":"InPlaceOnly","partition":"10%","maxUnavailable":0,"maxSurge":"50%","inPlaceUpdateStrategy":{"gracePeriodSeconds":9}}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"InPlaceOnly","partition":"10%","maxUnavailable":0,"maxSurge":"50%","inPlaceUpdateStrategy":{"gracePeriodSeconds":9}}}`},
		{"spec.updateStrategy.inPlaceUpdateStrategy: {} for InPlaceIfPossible", `{"updateStrategy":{"type":"InPlaceIfPossible"}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"InPlaceIfPossible","partition":0,"maxUnavailable":"20%","maxSurge":0,"inPlaceUpdateStrategy":{}}}`},
		{"spec.updateStrategy.inPlaceUpdateStrategy: {} for InPlaceOnly", `{"updateStrategy":{"type":"InPlaceOnly"}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"InPlaceOnly","partition":0,"maxUnavailable":"20%","maxSurge":0,"inPlaceUpdateStrategy":{}}}`},
		{"spec.volumeClaimTemplates: upstream defaults", `{"volumeClaimTemplates":[{"metadata":{"name":"data"}}]}`,
			`{"replicas":1,"revisionHistoryLimit":10,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}],` + strategy + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := parseSet(t, `{"spec":`+tt.in+`}`), parseSet(t, `{"spec":`+tt.want+`}`)
			cloneset.Default(got, nil, cloneset.DefaultOptions{})
			got.Spec.Template = corev1.PodTemplateSpec{} // see TestDefaultOfTemplate
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Default (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultOfTemplate(t *testing.T) {
	const (
		open = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21"}]}}`
		full = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21","resources":{},"imagePullPolicy":"Always",
			"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always",
			"schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}`
		other = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.20"}]}}`
		empty = `{"metadata":{"labels":{"app":"demo"},"annotations":{}},"spec":{"containers":[{"name":"main","image":"nginx:1.21","env":[]}],"volumes":null}}`
	)
	const claims, fullClaims = `[{"metadata":{"name":"data"}}]`, `[{"metadata":{"name":"data"},"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]`
	off := cloneset.DefaultOptions{TemplateNoDefaults: true}
	for _, tt := range []struct {
		name              string
		old, template     string
		oldClaims, claims string
		options           cloneset.DefaultOptions
		want, wantClaims  string
	}{
		{name: "CS-V1: create", template: open, claims: claims, want: full, wantClaims: fullClaims},
		{name: "create with TemplateNoDefaults", template: open, claims: claims, options: off, want: open, wantClaims: claims},
		{name: "update that changes the template", old: other, template: open, want: full},
		{name: "update that changes the template with TemplateNoDefaults", old: other, template: open, options: off, want: open},
		{name: "update that leaves a defaulted template alone", old: full, template: full, want: full},
		{name: "update that leaves a template without defaults alone", old: open, template: open, want: open},
		{name: "update whose template means the same", old: open, template: empty, want: empty},
		{name: "replace by a manifest without defaults becomes what is stored", old: full, template: open, want: full},
		{name: "update that changes the claims and not the template", old: open, template: open, oldClaims: `[]`, claims: claims, want: open, wantClaims: fullClaims},
		{name: "update that changes the template and not the claims", old: other, template: open, oldClaims: claims, claims: claims, want: full, wantClaims: claims},
	} {
		t.Run(tt.name, func(t *testing.T) {
			build := func(template, claims string) *v1alpha1.CloneSet {
				if claims == "" {
					claims = "null"
				}
				return parseSet(t, `{"spec":{"template":`+template+`,"volumeClaimTemplates":`+claims+`}}`)
			}
			set, want := build(tt.template, tt.claims), build(tt.want, tt.wantClaims)
			var old *v1alpha1.CloneSet
			if tt.old != "" {
				old = build(tt.old, tt.oldClaims)
			}
			before := old.DeepCopy()
			cloneset.Default(set, old, tt.options)
			if diff := cmp.Diff(want.Spec.Template, set.Spec.Template); diff != "" {
				t.Errorf("template (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Spec.VolumeClaimTemplates, set.Spec.VolumeClaimTemplates); diff != "" {
				t.Errorf("claim templates (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, old); diff != "" {
				t.Errorf("Default changed the stored set (-before +after):\n%s", diff)
			}
		})
	}
}

func ExampleDefault() {
	set := &v1alpha1.CloneSet{}
	set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	cloneset.Default(set, nil, cloneset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.UpdateStrategy.MaxUnavailable, set.Spec.Template.Spec.RestartPolicy)
	// Output: 1 20% Always
}
