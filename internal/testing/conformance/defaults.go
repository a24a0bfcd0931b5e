// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CheckTemplateDefaults checks what a kind of workload defaults in its pod template
// and claim templates, and that it does so only if they change. Default is
// given the object, and the stored one or nil.
func CheckTemplateDefaults[T any](t *testing.T, setDefaults func(object, old *T, templateNoDefaults bool)) {
	const (
		open = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21"}]}}`
		full = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21","resources":{},"imagePullPolicy":"Always",
			"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always",
			"schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}`
		other = `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.20"}]}}`
		empty = `{"metadata":{"labels":{"app":"demo"},"annotations":{}},"spec":{"containers":[{"name":"main","image":"nginx:1.21","env":[]}],"volumes":null}}`

		claims     = `[{"metadata":{"name":"data"}}]`
		fullClaims = `[{"metadata":{"name":"data"},"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]`
	)
	for _, tt := range []struct {
		name              string
		old, template     string
		oldClaims, claims string
		off               bool
		want, wantClaims  string
	}{
		{name: "create", template: open, claims: claims, want: full, wantClaims: fullClaims},
		{name: "create with TemplateNoDefaults", template: open, claims: claims, off: true, want: open, wantClaims: claims},
		{name: "update that changes the template", old: other, template: open, want: full},
		{name: "update that changes the template with TemplateNoDefaults", old: other, template: open, off: true, want: open},
		{name: "update that leaves a defaulted template alone", old: full, template: full, want: full},
		{name: "update that leaves a template without defaults alone", old: open, template: open, want: open},
		{name: "update whose template means the same", old: open, template: empty, want: empty},
		{name: "replace by a manifest without defaults becomes what is stored", old: full, template: open, want: full},
		{name: "update that changes the claims and not the template", old: open, template: open, oldClaims: `[]`, claims: claims, want: open, wantClaims: fullClaims},
		{name: "update that changes the template and not the claims", old: other, template: open, oldClaims: claims, claims: claims, want: full, wantClaims: claims},
	} {
		t.Run(tt.name, func(t *testing.T) {
			build := func(template, claims string) *T {
				if claims == "" {
					claims = "null"
				}
				object := new(T)
				if err := json.Unmarshal([]byte(`{"spec":{"template":`+template+`,"volumeClaimTemplates":`+claims+`}}`), object); err != nil {
					t.Fatal(err)
				}
				return object
			}
			object := build(tt.template, tt.claims)
			var old, before *T
			if tt.old != "" {
				old, before = build(tt.old, tt.oldClaims), build(tt.old, tt.oldClaims)
			}
			setDefaults(object, old, tt.off)
			want := build(tt.want, tt.wantClaims)
			setDefaults(want, build(tt.want, tt.wantClaims), true) // of the rest of the spec
			if diff := cmp.Diff(want, object); diff != "" {
				t.Errorf("defaulted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, old); diff != "" {
				t.Errorf("Default changed the stored object (-before +after):\n%s", diff)
			}
		})
	}
}
