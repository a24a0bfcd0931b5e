// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func template(t testing.TB, data []byte) *corev1.PodTemplateSpec {
	t.Helper()
	out, err := revision.Template(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// demo is the template of demo.json, or that of demo-defaults.json.
func demo(defaults bool) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.21"}}},
	}
	if defaults {
		c := &t.Spec.Containers[0]
		c.ImagePullPolicy = corev1.PullAlways
		c.TerminationMessagePath = corev1.TerminationMessagePathDefault
		c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
		t.Spec.DNSPolicy = corev1.DNSClusterFirst
		t.Spec.RestartPolicy = corev1.RestartPolicyAlways
		t.Spec.SchedulerName = corev1.DefaultSchedulerName
		t.Spec.SecurityContext = &corev1.PodSecurityContext{}
		t.Spec.TerminationGracePeriodSeconds = new(int64(30))
	}
	return t
}

func TestDataGolden(t *testing.T) {
	for _, tt := range []struct {
		name     string
		template *corev1.PodTemplateSpec
		want     string
	}{
		{"CS-CR1: the example with defaults", demo(true), "demo-defaults.json"},
		{"CS-CR1: the example without defaults", demo(false), "demo.json"},
		{"CS-CR1: an empty template", &corev1.PodTemplateSpec{}, "kubernetes-1.22-empty.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := revision.Data(tt.template)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(golden(t, tt.want)), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What 1.4 wrote is written again byte by byte, for every field of Kubernetes 1.22.
func TestDataOfKubernetes122(t *testing.T) {
	for _, name := range []string{
		"demo.json", "demo-defaults.json", "kubernetes-1.22-empty.json", "kubernetes-1.22-zero.json", "kubernetes-1.22-full.json",
	} {
		t.Run("CS-CR1, CS-CR6: "+name, func(t *testing.T) {
			want := golden(t, name)
			got, err := revision.Data(template(t, want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(indent(t, want), indent(t, got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(got) != string(want) {
				t.Error("the JSON values are the same, the bytes are not")
			}
		})
	}
}

func indent(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDataDetails(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for _, tt := range []struct {
		name, want string
		change     func(*corev1.PodTemplateSpec)
	}{
		{
			"CS-CR1: <, > and & are escaped",
			`{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"a":"\u003cb\u003e\u0026"},"creationTimestamp":null},"spec":{"containers":null}}}}`,
			func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"a": "<b>&"} },
		},
		{
			"CS-CR1: backspace and form feed keep the escapes of old encoders",
			`{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"a":"\u0008\u000c\\b"},"creationTimestamp":null},"spec":{"containers":null}}}}`,
			func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"a": "\b\f\\b"} },
		},
		{
			"CS-CR1: the claim of an ephemeral volume has metadata too",
			`{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":null,"volumes":[{"ephemeral":{"volumeClaimTemplate":{"metadata":{"creationTimestamp":null},"spec":{"resources":{}}}},"name":"v"}]}}}}`,
			func(t *corev1.PodTemplateSpec) {
				t.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
					Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}},
				}}}
			},
		},
		{
			"new pod fields are kept: a native sidecar",
			`{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":null,"initContainers":[{"name":"s","resources":{},"restartPolicy":"Always"}]}}}}`,
			func(t *corev1.PodTemplateSpec) {
				t.Spec.InitContainers = []corev1.Container{{Name: "s", RestartPolicy: &always}}
			},
		},
		{
			"integers are exact",
			`{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":null,"terminationGracePeriodSeconds":9007199254740993}}}}`,
			func(t *corev1.PodTemplateSpec) { t.Spec.TerminationGracePeriodSeconds = new(int64(9007199254740993)) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in corev1.PodTemplateSpec
			tt.change(&in)
			got, err := revision.Data(&in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			back, err := revision.Data(template(t, got))
			if err != nil {
				t.Fatal(err)
			}
			if string(back) != string(got) {
				t.Errorf("decoded and encoded again: %s", back)
			}
		})
	}
	if _, err := revision.Data(nil); err == nil {
		t.Error("a nil template gives data")
	}
}

func TestTemplateErrors(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"no data", ``, `revision data is empty, want {"spec":{"template":...}}`},
		{"no template", `{"spec":{}}`, `revision data has no spec.template`},
		{"a null template", `{"spec":{"template":null}}`, `revision data has no spec.template`},
		{"null", `null`, `revision data has no spec.template`},
		{"not JSON", `{"spec":`, `revision data is not a pod template: unexpected end of JSON input`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := revision.Template([]byte(tt.data))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for _, data := range []string{`[]`, `1`, `{"spec":{"template":{"spec":{"containers":7}}}}`} {
		if _, err := revision.Template([]byte(data)); err == nil {
			t.Errorf("%s was read as a template", data)
		}
	}
}
