// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/workloads/cloneset"
)

func TestValidateTemplate(t *testing.T) {
	labelled := func(spec string) string { return `{"metadata":{"labels":{"app":"demo"}},"spec":{` + spec + `}}` }
	const main = `"containers":[{"name":"main","image":"a"}]`
	for _, tt := range []struct {
		name, template string
		want           []string
	}{
		{"restartPolicy: Always", labelled(`"restartPolicy":"Always",` + main), nil},
		{"restartPolicy: OnFailure", labelled(`"restartPolicy":"OnFailure",` + main), []string{"NotSupported spec.template.spec.restartPolicy"}},
		{"restartPolicy: a sidecar's is its own", labelled(`"initContainers":[{"name":"log","image":"a","restartPolicy":"Always"}],` + main), nil},
		{"activeDeadlineSeconds: forbidden", labelled(`"activeDeadlineSeconds":1,` + main), []string{"Forbidden spec.template.spec.activeDeadlineSeconds"}},
		{"labels: invalid", `{"metadata":{"labels":{"app":"demo","bad key":"x"}},"spec":{` + main + `}}`, []string{"Invalid spec.template.metadata.labels"}},
		{"annotations: invalid", `{"metadata":{"labels":{"app":"demo"},"annotations":{"bad key":"x"}},"spec":{` + main + `}}`, []string{"Invalid spec.template.metadata.annotations"}},
		{"containers: none", labelled(`"containers":[]`), []string{"Required spec.template.spec.containers"}},
		{"containers: no name", labelled(`"containers":[{"image":"a"}]`), []string{"Required spec.template.spec.containers[0].name"}},
		{"containers: invalid name", labelled(`"containers":[{"name":"Main","image":"a"}]`), []string{"Invalid spec.template.spec.containers[0].name"}},
		{"containers: no image", labelled(`"containers":[{"name":"main"}]`), []string{"Required spec.template.spec.containers[0].image"}},
		{"containers: same name twice", labelled(`"containers":[{"name":"main","image":"a"},{"name":"main","image":"b"}]`), []string{"Duplicate spec.template.spec.containers[1].name"}},
		{"containers: same name as an init container", labelled(`"initContainers":[{"name":"main","image":"a"}],` + main), []string{"Duplicate spec.template.spec.containers[0].name"}},
		{"initContainers: no image", labelled(`"initContainers":[{"name":"init"}],` + main), []string{"Required spec.template.spec.initContainers[0].image"}},
		{"volumes: no name", labelled(`"volumes":[{"emptyDir":{}}],` + main), []string{"Required spec.template.spec.volumes[0].name"}},
		{"volumes: same name twice", labelled(`"volumes":[{"name":"v"},{"name":"v"}],` + main), []string{"Duplicate spec.template.spec.volumes[1].name"}},
		{"volumeMounts: of a volume", labelled(`"volumes":[{"name":"v"}],"containers":[{"name":"main","image":"a","volumeMounts":[{"name":"v"}]}]`), nil},
		{"volumeMounts: of no volume", labelled(`"volumes":[{"name":"v"}],"containers":[{"name":"main","image":"a","volumeMounts":[{"name":"v"},{"name":"w"}]}]`),
			[]string{"NotFound spec.template.spec.containers[0].volumeMounts[1].name"}},
		{"volumeDevices: of no volume", labelled(`"containers":[{"name":"main","image":"a","volumeDevices":[{"name":"w"}]}]`),
			[]string{"NotFound spec.template.spec.containers[0].volumeDevices[0].name"}},
		{"a newer field passes", labelled(`"hostUsers":false,"resources":{"limits":{"cpu":"1"}},` + main), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cloneset.ValidateCreate(demoSet(t, "template", tt.template))
			if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateClaimTemplates(t *testing.T) {
	const mounting = `{"metadata":{"labels":{"app":"demo"}},"spec":{"volumes":[{"name":"scratch"}],
		"containers":[{"name":"main","image":"a","volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"scratch","mountPath":"/tmp"}]}]}}`
	for _, tt := range []struct {
		name, claims string
		want         []string
	}{
		{"claim templates are volumes", `[{"metadata":{"name":"data"}}]`, nil},
		{"CS-19: a claim template replaces a volume of the same name", `[{"metadata":{"name":"data"}},{"metadata":{"name":"scratch"}}]`, nil},
		{"missing", `[]`, []string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"no name", `[{"metadata":{"name":"data"}},{}]`, []string{"Required spec.volumeClaimTemplates[1].metadata.name"}},
		{"no DNS label", `[{"metadata":{"name":"data"}},{"metadata":{"name":"my.data"}}]`, []string{"Invalid spec.volumeClaimTemplates[1].metadata.name"}},
		{"same name twice", `[{"metadata":{"name":"data"}},{"metadata":{"name":"data"}}]`, []string{"Duplicate spec.volumeClaimTemplates[1].metadata.name"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cloneset.ValidateCreate(demoSet(t, "template", mounting, "volumeClaimTemplates", tt.claims))
			if diff := cmp.Diff(tt.want, problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}
