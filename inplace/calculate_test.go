// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
)

const onlyImage = "of a running container only the image can be replaced"

func TestObstacles(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecar := func(t *corev1.PodTemplateSpec) {
		t.Spec.InitContainers = []corev1.Container{{Name: "s", Image: "s:1", RestartPolicy: &always}}
	}
	for _, tt := range []struct {
		name     string
		from, to *corev1.PodTemplateSpec
		want     []string
	}{
		{"IP-3: nothing changes", template(), template(), nil},
		{"IP-3: metadata", template(), template(label("k", "w"), annotate("x", "y")), nil},
		{"IP-3: finalizers", template(), template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"f"} }), nil},
		{"IP-3, IP-E1: an image", template(), template(image(0, "c1:2")), nil},
		{"IP-3: several images", template(), template(image(0, "c1:2"), image(2, "c3:2")), nil},
		{
			"IP-3: env", template(), template(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "secret"}}
			}),
			[]string{`add /spec/containers/0/env (container "c1"): ` + onlyImage},
		},
		{
			"IP-3: resources", template(),
			template(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[1].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
			}),
			[]string{`add /spec/containers/1/resources/limits (container "c2"): ` + onlyImage},
		},
		{
			"IP-3: pull policy", template(), template(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ImagePullPolicy = "Always" }),
			[]string{`add /spec/containers/0/imagePullPolicy (container "c1"): ` + onlyImage},
		},
		{
			"IP-3: an image where there was none", template(image(0, "")), template(),
			[]string{`add /spec/containers/0/image (container "c1"): ` + onlyImage},
		},
		{
			"IP-3, IP-E2: image of an init container", template(sidecar), template(sidecar, func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].Image = "s:2" }),
			[]string{"replace /spec/initContainers/0/image: init containers run before the others, when the pod is created"},
		},
		{
			"IP-3: a container less", template(), template(func(t *corev1.PodTemplateSpec) { t.Spec.Containers = t.Spec.Containers[:2] }),
			[]string{`remove /spec/containers/2 (container "c3"): a container cannot be removed from a running pod`},
		},
		{
			"IP-3, IP-E20: an image and a container more", template(),
			template(image(0, "c1:2"), func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "c4", Image: "c4:1"})
			}),
			[]string{`add /spec/containers/3: a container cannot be added to a running pod`},
		},
		{
			"IP-3: reordered", template(),
			template(func(t *corev1.PodTemplateSpec) {
				c := t.Spec.Containers
				c[0], c[1] = c[1], c[0]
			}),
			[]string{
				`replace /spec/containers/0/name (container "c1"): containers of a running pod cannot be renamed or reordered`,
				`replace /spec/containers/1/name (container "c2"): containers of a running pod cannot be renamed or reordered`,
			},
		},
		{
			"IP-3: tolerations and volumes", template(),
			template(func(t *corev1.PodTemplateSpec) {
				t.Spec.Tolerations = []corev1.Toleration{{Key: "x"}}
				t.Spec.Volumes = []corev1.Volume{{Name: "v"}}
			}),
			[]string{
				"add /spec/tolerations: of a running pod only container images, labels, annotations and finalizers can be changed",
				"add /spec/volumes: of a running pod only container images, labels, annotations and finalizers can be changed",
			},
		},
		{
			"a field newer than the rules", template(),
			template(func(t *corev1.PodTemplateSpec) { t.Spec.HostnameOverride = new("h") }),
			[]string{"add /spec/hostnameOverride: of a running pod only container images, labels, annotations and finalizers can be changed"},
		},
		{"a native sidecar that stays is no obstacle", template(sidecar), template(sidecar, image(0, "c1:2")), nil},
		{
			"another notation of a quantity is no change",
			template(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("1Gi")}
			}),
			template(image(0, "c1:2"), func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("1073741824")}
			}),
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, obstacles, err := inplace.Calculate(rev(t, "demo-old", tt.from), rev(t, "demo-new", tt.to), inplace.CalculateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range obstacles {
				got = append(got, o.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if (u == nil) != (len(tt.want) > 0) {
				t.Errorf("the update is %v", u)
			}
			if u != nil && u.Revision != "demo-new" {
				t.Errorf("the update goes to revision %q", u.Revision)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	const labelK, annotationA = "metadata.labels['k']", "metadata.annotations['a']"
	slash := env(0, "S", "metadata.labels['x.io/s~t']")
	remove := func(key string) change { return func(t *corev1.PodTemplateSpec) { delete(t.Labels, key) } }
	for _, tt := range []struct {
		name     string
		gateOff  bool
		from, to *corev1.PodTemplateSpec
		want     inplace.Update
		patch    string
	}{
		{"IP-4: nothing changes", false, template(), template(), inplace.Update{}, ""},
		{
			"IP-5: images by the names of the old template", false, template(), template(image(0, "c1:2"), image(2, "c3:2")),
			inplace.Update{Images: map[string]string{"c1": "c1:2", "c3": "c3:2"}}, "",
		},
		{
			"IP-7: a label that an environment refers to", false, template(env(0, "K", labelK)), template(env(0, "K", labelK), label("k", "w")),
			inplace.Update{EnvFromMetadata: true, RefMetadata: map[string]metav1.ObjectMeta{"c1": {Labels: map[string]string{"k": "w"}}}}, "",
		},
		{
			"IP-7: a label added", false, template(env(0, "N", "metadata.labels['n']")), template(env(0, "N", "metadata.labels['n']"), label("n", "1")),
			inplace.Update{EnvFromMetadata: true, RefMetadata: map[string]metav1.ObjectMeta{"c1": {Labels: map[string]string{"n": "1"}}}}, "",
		},
		{
			"IP-7: an unescaped key", false, template(slash, label("x.io/s~t", "1")), template(slash, label("x.io/s~t", "2")),
			inplace.Update{EnvFromMetadata: true, RefMetadata: map[string]metav1.ObjectMeta{"c1": {Labels: map[string]string{"x.io/s~t": "2"}}}}, "",
		},
		{
			"IP-7: every container that refers to it, others keep the general patch", false,
			template(env(0, "A", annotationA), env(1, "A", annotationA)),
			template(env(0, "A", annotationA), env(1, "A", annotationA), annotate("a", "c"), label("k", "w"), image(1, "c2:2")),
			inplace.Update{
				EnvFromMetadata: true, Images: map[string]string{"c2": "c2:2"},
				RefMetadata: map[string]metav1.ObjectMeta{
					"c1": {Annotations: map[string]string{"a": "c"}}, "c2": {Annotations: map[string]string{"a": "c"}},
				},
			},
			`{"metadata":{"labels":{"k":"w"}}}`,
		},
		{
			"IP-7: a label and an annotation of the same key", false,
			template(env(0, "A", annotationA), label("a", "1")), template(env(0, "A", annotationA), label("a", "2")),
			inplace.Update{}, `{"metadata":{"labels":{"a":"2"}}}`,
		},
		{
			"IP-7: only single keys count", false,
			template(env(0, "A", "metadata.labels"), env(1, "B", "metadata.name")),
			template(env(0, "A", "metadata.labels"), env(1, "B", "metadata.name"), label("k", "w")),
			inplace.Update{}, `{"metadata":{"labels":{"k":"w"}}}`,
		},
		{
			"IP-8: a label removed", false, template(env(0, "K", labelK)), template(env(0, "K", labelK), remove("k")),
			inplace.Update{}, `{"metadata":{"labels":{"k":null}}}`,
		},
		{
			"IP-8, IP-E5: the first annotation", false, template(env(0, "A", annotationA), noAnnotations), template(env(0, "A", annotationA)),
			inplace.Update{}, `{"metadata":{"annotations":{"a":"b"}}}`,
		},
		{
			"IP-8, IP-E6: the last annotation removed", false, template(env(0, "A", annotationA)), template(env(0, "A", annotationA), noAnnotations),
			inplace.Update{}, `{"metadata":{"annotations":{"a":null}}}`,
		},
		{
			"IP-8, IP-E6: an annotation removed", false,
			template(env(0, "A", annotationA), annotate("z", "z")), template(env(0, "A", annotationA), noAnnotations, annotate("z", "z")),
			inplace.Update{}, `{"metadata":{"annotations":{"a":null}}}`,
		},
		{"IP-9: a label removed", false, template(), template(remove("k")), inplace.Update{}, `{"metadata":{"labels":{"k":null}}}`},
		{
			"IP-9: finalizers", false,
			template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"f", "g"} }),
			template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"g", "h"} }),
			inplace.Update{},
			`{"metadata":{"$deleteFromPrimitiveList/finalizers":["f"],"$setElementOrder/finalizers":["g","h"],"finalizers":["h"]}}`,
		},
		{
			"IP-9: the last finalizer", false,
			template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"f"} }), template(), inplace.Update{},
			`{"metadata":{"$deleteFromPrimitiveList/finalizers":["f"]}}`,
		},
		{
			"IP-9: finalizers in another order", false,
			template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"f", "g"} }),
			template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"g", "f"} }), inplace.Update{}, "",
		},
		{
			"IP-10: gate off", true, template(env(0, "K", labelK)), template(env(0, "K", labelK), label("k", "w")),
			inplace.Update{}, `{"metadata":{"labels":{"k":"w"}}}`,
		},
		{
			"metadata that never reaches a pod is left out", false, template(),
			template(func(t *corev1.PodTemplateSpec) { t.Name, t.GenerateName = "n", "g" }), inplace.Update{}, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Revision = "demo-new"
			if tt.want.Images == nil {
				tt.want.Images = map[string]string{}
			}
			if tt.patch != "" {
				tt.want.MetadataPatch = []byte(tt.patch)
			}
			got, obstacles, err := inplace.Calculate(rev(t, "demo-old", tt.from), rev(t, "demo-new", tt.to), inplace.CalculateOptions{NoEnvFromMetadata: tt.gateOff})
			if err != nil || got == nil {
				t.Fatal(obstacles, err)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCalculateInputs(t *testing.T) {
	good, bad := rev(t, "good", template()), rev(t, "bad", template())
	bad.Data.Raw = []byte("{")
	u, obstacles, err := inplace.Calculate(nil, good, inplace.CalculateOptions{})
	if u != nil || len(obstacles) != 1 || err != nil || !strings.Contains(obstacles[0].String(), "does not exist any more") {
		t.Errorf("IP-1: no revision of the pod: %v, %v, %v", u, obstacles, err)
	}
	if _, _, err := inplace.Calculate(good, nil, inplace.CalculateOptions{}); err == nil {
		t.Error("a nil target is no error")
	}
	for _, pair := range [][2]*appsv1.ControllerRevision{{good, bad}, {bad, good}} {
		if _, _, err := inplace.Calculate(pair[0], pair[1], inplace.CalculateOptions{}); err == nil || !strings.Contains(err.Error(), "ControllerRevision default/bad") {
			t.Errorf("the error does not name the unreadable revision: %v", err)
		}
	}
}

// Data of 1.4 and of other encoders has no spurious differences.
func TestCalculateAcrossEncoders(t *testing.T) {
	const spec = `"spec":{"containers":[{"name":"main","image":"IMAGE"%s}]}`
	data := func(name, image, metadata, more string) *appsv1.ControllerRevision {
		r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		body := strings.NewReplacer("IMAGE", image, "%s", more).Replace(spec)
		r.Data.Raw = []byte(`{"spec":{"template":{` + metadata + body + `}}}`)
		return r
	}
	for name, from := range map[string]*appsv1.ControllerRevision{
		"IP-2: creationTimestamp and resources written": data("a", "i:1", `"$patch":"replace","metadata":{"creationTimestamp":null},`, `,"resources":{}`),
		"IP-2: neither of them":                         data("a", "i:1", `"metadata":{},`, ``),
		"IP-6: no metadata at all":                      data("a", "i:1", ``, `,"resources":{}`),
	} {
		t.Run(name, func(t *testing.T) {
			to := rev(t, "b", &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "i:2"}}}})
			u, obstacles, err := inplace.Calculate(from, to, inplace.CalculateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := &inplace.Update{Revision: "b", Images: map[string]string{"main": "i:2"}}
			if diff := cmp.Diff(want, u); diff != "" {
				t.Errorf("-want +got:\n%s\n%v", diff, obstacles)
			}
		})
	}
}

// What a patch removes is gone from the pod, and nothing else is.
func TestMetadataPatchOnPod(t *testing.T) {
	from := template(func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"f"} })
	to := template(noAnnotations, func(t *corev1.PodTemplateSpec) { t.Finalizers = nil })
	pod := running(from, func(pod *corev1.Pod) {
		pod.Annotations["other"] = "stays"
		pod.Finalizers = append(pod.Finalizers, "other/stays")
	})
	got := begin(t, pod, calculate(t, from, to), 0)
	if _, found := got.Annotations["a"]; found || got.Annotations["other"] != "stays" {
		t.Errorf("IP-9: annotations %v", got.Annotations)
	}
	if diff := cmp.Diff([]string{"other/stays"}, got.Finalizers); diff != "" {
		t.Errorf("IP-9: finalizers: -want +got:\n%s", diff)
	}
}

// IP-9, CT-7: what controllers own in each pod comes from no template, whichever of the two has it. An environment that refers to
// it does not count as changed.
func TestMetadataThatControllersOwn(t *testing.T) {
	plain := template(env(0, "DELETED", "metadata.labels['apps.kruise.io/specified-delete']"))
	copied := template(env(0, "DELETED", "metadata.labels['apps.kruise.io/specified-delete']"), label("apps.kruise.io/specified-delete", "true"), annotate("apps.kruise.io/inplace-update-state", "{}"))
	for _, u := range []*inplace.Update{calculate(t, plain, copied), calculate(t, copied, plain)} {
		if u.MetadataPatch != nil || u.RefMetadata != nil {
			t.Errorf("patch %s, references %v", u.MetadataPatch, u.RefMetadata)
		}
	}
}
