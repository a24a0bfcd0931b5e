// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validation describes how a kind of workload is validated. [CheckValidation] checks it.
type Validation[T metav1.Object] struct {
	// New makes an empty workload.
	New func() T
	// InPlaceOnly is the update strategy, in JSON, of a workload whose pods are only updated in place.
	InPlaceOnly string

	Create func(T) field.ErrorList
	Update func(updated, old T) field.ErrorList
	Delete func(T) error
}

// Selector is the JSON of the selector of [Validation.Demo].
const Selector = `{"matchLabels":{"app":"demo"}}`

// Template is the JSON of a template that is valid for all kinds, with more in its metadata, its spec and its container.
func Template(meta, spec, container string) string {
	return `{"metadata":{` + meta + `"labels":{"app":"demo"}},"spec":{` + spec +
		`"containers":[{` + container + `"name":"main","image":"nginx:1.21"}],"readinessGates":[{"conditionType":"InPlaceUpdateReady"}]}}`
}

// Demo makes a valid workload with some fields of its spec replaced: a list of key, JSON value, key, JSON value.
func (v *Validation[T]) Demo(t testing.TB, fields ...string) T {
	t.Helper()
	keys := map[string]json.RawMessage{"selector": json.RawMessage(Selector), "template": json.RawMessage(Template("", "", ""))}
	for i := 0; i < len(fields); i += 2 {
		keys[fields[i]] = json.RawMessage(fields[i+1])
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]string{"namespace": "shop", "name": "demo", "uid": "u1"}, "spec": keys})
	object := v.New()
	if err == nil {
		err = json.Unmarshal(data, object)
	}
	if err != nil {
		t.Fatalf("%v in %s", err, fields)
	}
	return object
}

// Invalid are changes of a valid workload, and what is wrong with the result, as [Problems] shows it.
type Invalid = struct {
	Name string
	// Old and New are for [Validation.Demo].
	Old, New []string
	Want     []string
}

// Problems shows errors as "type path", the part that callers rely on.
func Problems(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s %s", strings.TrimPrefix(string(err.Type), "FieldValue"), err.Field))
	}
	return out
}

// CheckCreate checks what is said of new workloads.
func (v *Validation[T]) CheckCreate(t *testing.T, cases []Invalid) {
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			got := v.Create(v.Demo(t, tt.New...))
			if diff := cmp.Diff(tt.Want, Problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

// CheckUpdate checks what is said of changes.
func (v *Validation[T]) CheckUpdate(t *testing.T, cases []Invalid) {
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			got := v.Update(v.Demo(t, tt.New...), v.Demo(t, tt.Old...))
			if diff := cmp.Diff(tt.Want, Problems(got)); diff != "" {
				t.Errorf("ValidateUpdate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

// CheckValidation checks what all workloads have in common: selector, template, claim templates and the protection against
// deletion. It also checks which updates a workload takes that updates pods only in place.
func CheckValidation[T metav1.Object](t *testing.T, v Validation[T]) {
	t.Run("create", func(t *testing.T) { v.CheckCreate(t, creations()) })
	t.Run("template", func(t *testing.T) { v.CheckCreate(t, templates()) })
	t.Run("update", func(t *testing.T) { v.CheckUpdate(t, v.updates()) })
	t.Run("delete", v.checkDelete)
}

func creations() []Invalid {
	return []Invalid{
		{"the least there can be", nil, []string{"replicas", `null`}, nil},
		{"replicas: 0", nil, []string{"replicas", `0`}, nil},
		{"replicas: negative", nil, []string{"replicas", `-1`}, []string{"Invalid spec.replicas"}},
		{"selector: required", nil, []string{"selector", `null`}, []string{"Required spec.selector"}},
		{"selector: empty", nil, []string{"selector", `{}`}, []string{"Invalid spec.selector"}},
		{"selector: empty lists", nil, []string{"selector", `{"matchLabels":{},"matchExpressions":[]}`}, []string{"Invalid spec.selector"}},
		{"selector: expressions that match", nil, []string{"selector", `{"matchExpressions":[{"key":"app","operator":"In","values":["demo","other"]}]}`}, nil},
		{"selector: unknown operator", nil, []string{"selector", `{"matchExpressions":[{"key":"app","operator":"Like"}]}`}, []string{"Invalid spec.selector.matchExpressions[0].operator"}},
		{"selector: In without values", nil, []string{"selector", `{"matchExpressions":[{"key":"app","operator":"In"}]}`}, []string{"Required spec.selector.matchExpressions[0].values"}},
		{"selector: invalid value", nil, []string{"selector", `{"matchLabels":{"app":"not valid"}}`}, []string{"Invalid spec.selector.matchLabels"}},
		{"selector: does not match the template", nil, []string{"selector", `{"matchLabels":{"app":"other"}}`}, []string{"Invalid spec.template.metadata.labels"}},
		{"revisionHistoryLimit: not validated", nil, []string{"revisionHistoryLimit", `-1`}, nil},
	}
}

func templates() []Invalid {
	const mount = `"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"scratch","mountPath":"/tmp"}],`
	mounting := Template("", `"volumes":[{"name":"scratch"}],`, mount)
	containers := func(list string) string {
		return strings.Replace(Template("", "", ""), `[{"name":"main","image":"nginx:1.21"}]`, list, 1)
	}
	cases := []Invalid{
		{"claim templates are volumes", nil, []string{"template", mounting, "volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`}, nil},
		{"CS-19: a claim template replaces a volume of the same name", nil, []string{"template", mounting, "volumeClaimTemplates", `[{"metadata":{"name":"data"}},{"metadata":{"name":"scratch"}}]`}, nil},
		{"claim templates: missing", nil, []string{"template", mounting, "volumeClaimTemplates", `[]`}, []string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}},
		{"claim templates: no name", nil, []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}},{}]`}, []string{"Required spec.volumeClaimTemplates[1].metadata.name"}},
		{"claim templates: no DNS label", nil, []string{"volumeClaimTemplates", `[{"metadata":{"name":"my.data"}}]`}, []string{"Invalid spec.volumeClaimTemplates[0].metadata.name"}},
		{"claim templates: same name twice", nil, []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}},{"metadata":{"name":"data"}}]`}, []string{"Duplicate spec.volumeClaimTemplates[1].metadata.name"}},
	}
	for _, tt := range []struct{ name, template, want string }{
		{"restartPolicy: Always", Template("", `"restartPolicy":"Always",`, ""), ""},
		{"restartPolicy: OnFailure", Template("", `"restartPolicy":"OnFailure",`, ""), "NotSupported spec.template.spec.restartPolicy"},
		{"restartPolicy: a sidecar's is its own", Template("", `"initContainers":[{"name":"log","image":"a","restartPolicy":"Always"}],`, ""), ""},
		{"activeDeadlineSeconds: forbidden", Template("", `"activeDeadlineSeconds":1,`, ""), "Forbidden spec.template.spec.activeDeadlineSeconds"},
		{"labels: invalid", strings.Replace(Template("", "", ""), `{"app":`, `{"bad key":"x","app":`, 1), "Invalid spec.template.metadata.labels"},
		{"annotations: invalid", Template(`"annotations":{"bad key":"x"},`, "", ""), "Invalid spec.template.metadata.annotations"},
		{"containers: none", containers(`[]`), "Required spec.template.spec.containers"},
		{"containers: no name", containers(`[{"image":"a"}]`), "Required spec.template.spec.containers[0].name"},
		{"containers: invalid name", containers(`[{"name":"Main","image":"a"}]`), "Invalid spec.template.spec.containers[0].name"},
		{"containers: no image", containers(`[{"name":"main"}]`), "Required spec.template.spec.containers[0].image"},
		{"containers: same name twice", containers(`[{"name":"main","image":"a"},{"name":"main","image":"b"}]`), "Duplicate spec.template.spec.containers[1].name"},
		{"containers: same name as an init container", Template("", `"initContainers":[{"name":"main","image":"a"}],`, ""), "Duplicate spec.template.spec.containers[0].name"},
		{"initContainers: no image", Template("", `"initContainers":[{"name":"init"}],`, ""), "Required spec.template.spec.initContainers[0].image"},
		{"volumes: no name", Template("", `"volumes":[{"emptyDir":{}}],`, ""), "Required spec.template.spec.volumes[0].name"},
		{"volumes: same name twice", Template("", `"volumes":[{"name":"v"},{"name":"v"}],`, ""), "Duplicate spec.template.spec.volumes[1].name"},
		{"volumeMounts: of a volume", Template("", `"volumes":[{"name":"v"}],`, `"volumeMounts":[{"name":"v"}],`), ""},
		{"volumeMounts: of no volume", Template("", `"volumes":[{"name":"v"}],`, `"volumeMounts":[{"name":"v"},{"name":"w"}],`), "NotFound spec.template.spec.containers[0].volumeMounts[1].name"},
		{"volumeDevices: of no volume", Template("", "", `"volumeDevices":[{"name":"w"}],`), "NotFound spec.template.spec.containers[0].volumeDevices[0].name"},
		{"a newer field passes", Template("", `"hostUsers":false,"resources":{"limits":{"cpu":"1"}},`, ""), ""},
	} {
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		cases = append(cases, Invalid{tt.name, nil, []string{"template", tt.template}, want})
	}
	return cases
}

func (v *Validation[T]) updates() []Invalid {
	mount, env := Template("", "", `"volumeMounts":[{"name":"data"}],`), Template("", "", `"env":[{"name":"A"}],`)
	newImage := func(template string) string { return strings.Replace(template, "1.21", "1.22", 1) }
	claims := []string{"volumeClaimTemplates", `[{"metadata":{"name":"data"}}]`}
	inPlaceOnly := func(fields ...string) []string { return append([]string{"updateStrategy", v.InPlaceOnly}, fields...) }
	zone := func(zone string) string { return Template("", `"nodeSelector":{"example.com/zone":"`+zone+`"},`, "") }
	initial := func(image string) string {
		return Template("", `"initContainers":[{"name":"init","image":"`+image+`"}],`, "")
	}
	pulled := func(policy string) string { return Template("", "", `"imagePullPolicy":"`+policy+`",`) }
	notMounted := []string{"NotFound spec.template.spec.containers[0].volumeMounts[0].name"}
	return []Invalid{
		{"selector: immutable", nil, []string{"selector", `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`}, []string{"Invalid spec.selector"}},
		{"selector: removed", nil, []string{"selector", `null`}, []string{"Required spec.selector", "Invalid spec.selector"}},
		{"selector: means the same", nil, []string{"selector", `{"matchLabels":{"app":"demo"},"matchExpressions":[]}`, "replicas", `3`}, nil},
		{"CS-V4: an unchanged spec is not judged", []string{"replicas", `-1`}, []string{"replicas", `-1`}, nil},
		{"an unchanged template is not judged", []string{"template", mount}, []string{"template", mount, "replicas", `3`}, nil},
		{"a changed template is judged", nil, []string{"template", mount}, notMounted},
		{"removed claim templates are judged", append(claims, "template", mount), []string{"template", mount}, notMounted},
		{"replicas: negative", nil, []string{"replicas", `-1`}, []string{"Invalid spec.replicas"}},

		{"InPlaceOnly: image", nil, inPlaceOnly("template", newImage(Template("", "", ""))), nil},
		{"InPlaceOnly: labels and annotations", nil, inPlaceOnly("template", Template(`"annotations":{"a":"b"},`, "", "")), nil},
		{"CS-V2: InPlaceOnly: environment", nil, inPlaceOnly("template", env), []string{"Forbidden spec.template.spec.containers[0].env"}},
		{"InPlaceOnly: environment and image", nil, inPlaceOnly("template", newImage(env)), []string{"Forbidden spec.template.spec.containers[0].env"}},
		{"InPlaceOnly: imagePullPolicy, which OpenKruise lets pass for StatefulSets", []string{"template", pulled("Always")}, inPlaceOnly("template", pulled("Never")),
			[]string{"Forbidden spec.template.spec.containers[0].imagePullPolicy"}},
		{"InPlaceOnly: node selector", []string{"template", zone("a")}, inPlaceOnly("template", zone("b")), []string{"Forbidden spec.template.spec.nodeSelector[example.com/zone]"}},
		{"InPlaceOnly: container added", nil, inPlaceOnly("template", strings.Replace(Template("", "", ""), `[{`, `[{"name":"side","image":"a"},{`, 1)),
			[]string{"Forbidden spec.template.spec.containers[0].name", "Forbidden spec.template.spec.containers[1]"}},
		{"InPlaceOnly: init container's image", []string{"template", initial("a:1")}, inPlaceOnly("template", initial("a:2")), []string{"Forbidden spec.template.spec.initContainers[0].image"}},
		{"InPlaceOnly: the type that is left does not count", inPlaceOnly(), []string{"template", env}, nil},
		{"InPlaceOnly: an unchanged template", nil, inPlaceOnly("replicas", `2`), nil},
		{"CS-E14: InPlaceOnly: claim templates", nil, inPlaceOnly(claims...), nil},
	}
}

func (v *Validation[T]) checkDelete(t *testing.T) {
	const always, cascading = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always",
		"forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0"
	for _, tt := range []struct {
		name, label, replicas string
		deleting              bool
		want                  string
	}{
		{name: "not protected", replicas: `3`},
		{name: "CS-V3, DP-5: Always", label: "Always", replicas: `0`, want: always},
		{name: "DP-5: Cascading", label: "Cascading", replicas: `3`, want: cascading},
		{name: "DP-E8: Cascading without replicas", label: "Cascading", replicas: `0`},
		{name: "DP-8: Cascading with replicas nil", label: "Cascading", replicas: `null`},
		{name: "DP-E4: lower case", label: "always", replicas: `3`},
		{name: "another value", label: "true", replicas: `3`},
		{name: "DP-4, DP-E6: being deleted", label: "Always", replicas: `3`, deleting: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			object := v.Demo(t, "replicas", tt.replicas)
			if tt.label != "" {
				object.SetLabels(map[string]string{"policy.kruise.io/delete-protection": tt.label})
			}
			if tt.deleting {
				object.SetDeletionTimestamp(&metav1.Time{})
			}
			got := ""
			if err := v.Delete(object); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
