// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var (
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	shop = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"kubernetes.io/metadata.name": "shop", "team": "a"}}}
)

func fromYAML[T any](t testing.TB, text string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return object
}

// sidecarSet returns the SidecarSet of a name that selects app=web; the spec is YAML.
func sidecarSet(t testing.TB, name, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := fromYAML[v1alpha1.SidecarSet](t, "spec: "+spec)
	set.Name = name
	if set.Spec.Selector == nil {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	set.Status.LatestRevision = name + "-1"
	return set
}

// defaulted is a pod as admission sees it.
func defaulted(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.SetGroupVersionKind(podKind)
	interfaces.GetObjectDefaulter().Default(pod)
	return pod
}

func webPod(t testing.TB, metadata, spec string) *corev1.Pod {
	t.Helper()
	pod := fromYAML[corev1.Pod](t, "metadata: "+metadata+"\nspec: "+spec)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, "app", "web")
	pod.Name, pod.Namespace = "web-0", "shop"
	return defaulted(pod)
}

// mutators compiles policies of SidecarSets; nil for those that inject nothing.
func mutators(features injection.Features, sets ...*v1alpha1.SidecarSet) (all []*mutator, err error) {
	for _, set := range sets {
		c, err := policy.Compile(policy.Input{SidecarSet: set, Revision: set.Status.LatestRevision, Created: noon, Features: features})
		if err != nil {
			return nil, err
		}
		if c.Policy == nil {
			continue
		}
		m, err := newMutator(c.Policy)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// compare injects by policies and by Inject, and says how the pods differ.
func compare(features injection.Features, pod *corev1.Pod, sets []*v1alpha1.SidecarSet, policies []*mutator, schemaless bool) error {
	want, wanted := injection.Inject(injection.Input{Pod: pod, Namespace: shop, SidecarSets: sets, Features: features, Now: noon})
	got := pod
	for _, m := range policies {
		var err error
		if got, err = m.mutate(got, shop, schemaless); err != nil {
			if wanted != nil {
				return nil
			}
			return err
		}
	}
	if wanted != nil {
		return fmt.Errorf("no error, but of Inject: %w", wanted)
	}
	wantPod, gotPod := defaulted(want.Pod), defaulted(got)
	if len(sets) > 1 { // (SCP-5)
		sortVolumes(wantPod)
		sortVolumes(gotPod)
	}
	if diff := cmp.Diff(encoded(wantPod), encoded(gotPod)); diff != "" {
		return fmt.Errorf("the pods differ (- Inject, + policies):\n%s", diff)
	}
	for _, m := range policies {
		again, err := m.mutate(got, shop, schemaless)
		if err != nil {
			return fmt.Errorf("once more: %w", err)
		}
		if diff := cmp.Diff(encoded(got), encoded(again)); diff != "" {
			return fmt.Errorf("once more %s:\n%s", m.policy.Name, diff)
		}
	}
	after, err := injection.Inject(injection.Input{Pod: got, Namespace: shop, SidecarSets: sets, Features: features, Now: noon.Add(time.Hour)})
	if err != nil {
		return fmt.Errorf("Inject after the policies: %w", err)
	}
	if diff := cmp.Diff(encoded(got), encoded(defaulted(after.Pod))); diff != "" {
		return fmt.Errorf("Inject after the policies:\n%s", diff)
	}
	return nil
}

// sortVolumes sorts what policies of several SidecarSets add in any order.
func sortVolumes(pod *corev1.Pod) {
	slices.SortFunc(pod.Spec.Volumes, func(a, b corev1.Volume) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(pod.Spec.ImagePullSecrets, func(a, b corev1.LocalObjectReference) int { return strings.Compare(a.Name, b.Name) })
}

// encoded is what of a pod is sent and stored.
func encoded(pod *corev1.Pod) string {
	data, err := yaml.Marshal(pod)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// What is injected by a policy is what Inject injects. (SCP-1 to SCP-7, SCP-9)
func TestSidecarSetPolicies(t *testing.T) {
	const two = `{containers: [{name: main, image: a, env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], volumeMounts: [{name: data, mountPath: /data, subPathExpr: $(B)/$$(A)/$(A)}, {name: data, mountPath: /own}]}, {name: second, image: b, env: [{name: A, value: "2"}], volumeMounts: [{name: data, mountPath: /data}]}], volumes: [{name: data, emptyDir: {}}]}`
	for _, test := range []struct {
		name, metadata, spec string
		sets                 []string
	}{
		{"one container", "{}", two, []string{`{containers: [{name: log, image: "log:1", command: ["a", "\"'\\ü😀\n"], ports: [{containerPort: 80}], resources: {limits: {cpu: 100m}}, livenessProbe: {httpGet: {path: /, port: http}}}]}`}},
		{"behind", "{annotations: {a/b: c}}", two, []string{`{containers: [{name: log, image: l, podInjectPolicy: AfterAppContainer}, {name: log2, image: l, podInjectPolicy: BeforeAppContainer}]}`}},
		{"in place", "{}", two, []string{`{containers: [{name: second, image: l}, {name: first, image: f}]}`}},
		{"init containers", "{}", two, []string{`{initContainers: [{name: z, image: l, restartPolicy: Always, transferEnv: [{sourceContainerName: main, envNames: [B, A, C], envName: A}]}, {name: a, image: l}]}`}},
		{"transfers", "{labels: {from: second}}", two, []string{`{containers: [{name: log, image: l, env: [{name: X, value: x}], transferEnv: [{sourceContainerName: main, envNames: [B, A, X]}, {sourceContainerNameFrom: {fieldRef: {fieldPath: "metadata.labels['from']"}}, envName: A}, {sourceContainerNameFrom: {fieldRef: {fieldPath: "metadata.annotations['no']"}}, envName: A}, {sourceContainerName: log, envName: A}]}]}`}},
		{"shared mounts", "{}", two, []string{`{containers: [{name: log, image: l, shareVolumePolicy: {type: enabled}, volumeMounts: [{name: data, mountPath: /own}]}, {name: log2, image: l, shareVolumePolicy: {type: enabled}}]}`}},
		{"hot", "{}", two, []string{`{containers: [{name: b, image: l, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: empty}}, {name: a, image: l, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: empty}, transferEnv: [{sourceContainerName: main, envName: A}]}]}`}},
		{"volumes and secrets", "{}", two, []string{`{containers: [{name: log, image: l, volumeMounts: [{name: data, mountPath: /d}, {name: more, mountPath: /m}]}], volumes: [{name: data, emptyDir: {medium: Memory}}, {name: more, configMap: {name: x, defaultMode: 420}}, {name: unused, emptyDir: {}}], imagePullSecrets: [{name: one}, {name: one}]}`}},
		{"metadata", "{annotations: {has: it, over: it}}", two, []string{`{patchPodMetadata: [{annotations: {has: no, new/~key: "1"}}, {annotations: {over: yes!, new/~key: "2"}, patchPolicy: Overwrite}]}`}},
		{"left out", "{}", `{initContainers: [{name: log, image: x}], containers: [{name: main, image: m}]}`, []string{`{containers: [{name: log, image: l}]}`}},
		{"one of two left out", "{}", `{initContainers: [{name: log-1, image: x}], containers: [{name: main, image: m}]}`, []string{`{initContainers: [{name: main, image: l}], containers: [{name: log, image: l, upgradeStrategy: {upgradeType: HotUpgrade}}, {name: other, image: o}]}`}},
		{"three sets", "{annotations: {kruise.io/sidecarset-injected-list: old}}", two, []string{
			`{containers: [{name: a, image: l}, {name: a2, image: l, podInjectPolicy: AfterAppContainer}], initContainers: [{name: m, image: l}]}`,
			`{containers: [{name: b, image: l, upgradeStrategy: {upgradeType: HotUpgrade}}, {name: b2, image: l, podInjectPolicy: AfterAppContainer}], initContainers: [{name: k, image: l}, {name: x, image: l}]}`,
			`{containers: [{name: c, image: l}, {name: c2, image: l, podInjectPolicy: AfterAppContainer, upgradeStrategy: {upgradeType: HotUpgrade}}], initContainers: [{name: l, image: l}]}`}},
		{"unreadable", `{annotations: {kruise.io/sidecarset-hash: "no"}}`, two, []string{`{containers: [{name: log, image: l}]}`}},
		{"unreadable hot", `{annotations: {kruise.io/sidecarset-working-hotupgrade-container: "no"}}`, two, []string{`{containers: [{name: log, image: l, upgradeStrategy: {upgradeType: HotUpgrade}}]}`}},
		{"namespace", "{}", two, []string{`{namespace: shop, namespaceSelector: {matchLabels: {team: a}}, containers: [{name: log, image: l}]}`, `{namespace: other, containers: [{name: log, image: l}]}`}},
		{"ended", "{}", two + "\nstatus: {phase: Failed}", []string{`{containers: [{name: log, image: l}]}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sets []*v1alpha1.SidecarSet
			for i, spec := range test.sets {
				sets = append(sets, sidecarSet(t, fmt.Sprint("set-", i), spec))
			}
			all, err := mutators(injection.Features{}, sets...)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range orders(len(all)) {
				ordered := make([]*mutator, len(all))
				for i, at := range order {
					ordered[i] = all[at]
				}
				for _, schemaless := range []bool{false, true} {
					if err := compare(injection.Features{}, webPod(t, test.metadata, test.spec), sets, ordered, schemaless); err != nil {
						t.Errorf("order %v, schemaless %t: %v", order, schemaless, err)
					}
				}
			}
		})
	}
}

// So it is with the switches of 1.9: defaults and records of init containers. (SCP-1, SCI-40 to SCI-42)
func TestSidecarSetPoliciesOf19(t *testing.T) {
	features := injection.FeaturesOf(podwright.Release19)
	const plain, native = `{name: z, image: l}`, `{name: a, image: l, restartPolicy: Always}`
	for _, spec := range []string{
		`{initContainers: [` + plain + `]}`, `{initContainers: [` + plain + `, ` + native + `]}`,
		`{initContainers: [` + plain + `, ` + native + `], containers: [{name: log, image: l}]}`,
	} {
		for _, pod := range []string{`{containers: [{name: main, image: m}]}`, `{containers: [{name: z, image: m}, {name: a, image: m}]}`, `{initContainers: [{name: log, image: x}], containers: [{name: a, image: m}]}`} {
			sets := []*v1alpha1.SidecarSet{sidecarSet(t, "demo", spec)}
			all, err := mutators(features, sets...)
			if err != nil {
				t.Fatal(err)
			}
			if err := compare(features, webPod(t, "{}", pod), sets, all, false); err != nil {
				t.Errorf("%s into %s: %v", spec, pod, err)
			}
		}
	}
}

// What a policy can make nothing of it says, and names the annotation. (SCP-6, SCP-10)
func TestSidecarSetPolicyUnreadable(t *testing.T) {
	all, err := mutators(injection.Features{}, sidecarSet(t, "log", `{containers: [{name: log, image: l, upgradeStrategy: {upgradeType: HotUpgrade}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, annotation := range []string{v1alpha1.SidecarSetHashAnnotation, v1alpha1.SidecarSetHashWithoutImageAnnotation, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation} {
		for _, value := range []string{"no", "[]", `{"a": {}}`, `{"a":{"hash":1}}`, `{"a":{"updateTimestamp":"2026-01-01T12:00:00Z","hash":"}","sidecarSetName":"a}","x":1}}`} {
			pod := webPod(t, "{}", "{containers: [{name: main, image: m}]}")
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, annotation, value)
			want := "no such key: annotation " + annotation + " of the pod is not what podwright and OpenKruise write there; correct or remove it"
			if _, err := all[0].mutate(pod, shop, false); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s %s: error %v, want one that ends with %q", annotation, value, err, want)
			}
		}
	}
}

// orders are all orders of so many things: the API server takes policies in any.
func orders(n int) (all [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range orders(n - 1) {
		for at := range n {
			all = append(all, append(append(append([]int{}, shorter[:at]...), n-1), shorter[at:]...))
		}
	}
	return all
}

// Policies leave those namespaces alone of which no webhook hears. (SCP-2)
func TestNoInjection(t *testing.T) {
	all, err := mutators(injection.Features{}, sidecarSet(t, "log", `{containers: [{name: log, image: l}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]int{"control-plane": 1, "team": 2} {
		namespace := shop.DeepCopy()
		namespace.Labels[label] = "a"
		got, err := all[0].mutate(webPod(t, "{}", "{containers: [{name: main, image: m}]}"), namespace, false)
		if err != nil || len(got.Spec.Containers) != want {
			t.Errorf("with the label %s: %v, error %v", label, got.Spec.Containers, err)
		}
	}
}
