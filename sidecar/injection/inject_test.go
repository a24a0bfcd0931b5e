// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// read reads an object from YAML.
func read[T any](t testing.TB, text string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return object
}

// setOf returns the SidecarSet of a name that selects app=web; the spec is YAML.
func setOf(t testing.TB, name, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := read[v1alpha1.SidecarSet](t, "spec: "+spec)
	set.Name = name
	if set.Spec.Selector == nil {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	return set
}

// podOf returns a pod with the label app=web; metadata and spec are YAML.
func podOf(t testing.TB, metadata, spec string) *corev1.Pod {
	t.Helper()
	pod := read[corev1.Pod](t, "metadata: "+metadata+"\nspec: "+spec)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["app"] = "web"
	pod.Namespace = "shop"
	return pod
}

const mainOnly = "{containers: [{name: main}]}"

func namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}
}

// inject injects, and once more into what has come of it, which changes nothing. (SCI-16)
func inject(t testing.TB, pod *corev1.Pod, sets ...*v1alpha1.SidecarSet) *injection.Result {
	t.Helper()
	in := injection.Input{Pod: pod, Namespace: namespace(), SidecarSets: sets, Now: noon}
	before := pod.DeepCopy()
	result, err := injection.Inject(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("the given pod is changed:\n%s", diff)
	}
	in.Pod, in.Now = result.Pod, noon.Add(time.Minute)
	again, err := injection.Inject(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.Pod, again.Pod); diff != "" {
		t.Errorf("a second injection changes the pod:\n%s", diff)
	}
	return result
}

// show describes containers: their images, variables and mounts.
func show(containers []corev1.Container) string {
	var all []string
	for _, c := range containers {
		text := c.Name
		if c.Image != "" {
			text += "=" + c.Image
		}
		for _, e := range c.Env {
			if text += " " + e.Name; e.ValueFrom != nil {
				text += "<" + e.ValueFrom.FieldRef.FieldPath
			} else if e.Name != v1alpha1.SidecarInjectedEnv {
				text += ":" + e.Value
			}
		}
		for _, m := range c.VolumeMounts {
			text += fmt.Sprintf(" %s@%s", m.Name, m.MountPath)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestMatchesNothing(t *testing.T) {
	pod, set := podOf(t, "{}", mainOnly), setOf(t, "demo", "{}")
	if got := injection.Matches(nil, pod, nil); got != "there is no SidecarSet" {
		t.Errorf("without a SidecarSet: %q", got)
	}
	if got := injection.Matches(set, nil, nil); got != "there is no pod" {
		t.Errorf("without a pod: %q", got)
	}
}

func TestMatches(t *testing.T) {
	const log = "containers: [{name: log}]"
	now := metav1.Now()
	for _, test := range []struct {
		name, spec string
		edit       func(*corev1.Pod)
		namespace  *corev1.Namespace
		skipped    string
	}{
		{name: "SCI-1: by its labels", spec: "{" + log + "}"},
		{name: "SCI-1: other labels", spec: "{selector: {matchLabels: {app: db}}, " + log + "}", skipped: `spec.selector "app=db" does not match the labels of the pod, "app=web"`},
		{name: "SCI-1: an empty selector", spec: "{selector: {}, " + log + "}", skipped: "spec.selector is empty"},
		{name: "SCI-1: a selector that cannot be read", spec: "{selector: {matchExpressions: [{key: a, operator: Is}]}, " + log + "}", skipped: `spec.selector cannot be read: "Is" is not a valid label selector operator`},
		{name: "SCI-1: paused", spec: "{injectionStrategy: {paused: true}, " + log + "}", skipped: "spec.injectionStrategy.paused is true"},
		{name: "SCI-1: its namespace", spec: "{namespace: shop, " + log + "}"},
		{name: "SCI-1: its namespace, by that of the request", spec: "{namespace: shop, " + log + "}", edit: func(p *corev1.Pod) { p.Namespace = "" }, namespace: namespace()},
		{name: "SCI-1: another namespace", spec: "{namespace: bank, " + log + "}", skipped: `spec.namespace "bank" is not that of the pod, "shop"`},
		{name: "SCI-1: namespaces by label", spec: "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", namespace: namespace()},
		{name: "SCI-1: other namespaces by label", spec: "{namespaceSelector: {matchLabels: {team: b}}, " + log + "}", namespace: namespace(),
			skipped: `spec.namespaceSelector "team=b" does not match the labels of the namespace, "team=a"`},
		{name: "SCI-1: an unknown namespace", spec: "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", skipped: `spec.namespaceSelector: no cache has the labels of namespace "shop"`},
		{name: "SCI-2: a mirror pod", spec: "{" + log + "}", edit: func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} },
			skipped: "the pod mirrors a static one: its kubelet runs what its file says"},
		{name: "SCI-2: a pod that has ended", spec: "{" + log + "}", edit: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, skipped: "the pod has ended"},
		{name: "SCI-2: a pod that is being deleted", spec: "{" + log + "}", edit: func(p *corev1.Pod) { p.DeletionTimestamp = &now }, skipped: "the pod is being deleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(t, "{}", mainOnly)
			if test.edit != nil {
				test.edit(pod)
			}
			result, err := injection.Inject(injection.Input{Pod: pod, Namespace: test.namespace, SidecarSets: []*v1alpha1.SidecarSet{setOf(t, "demo", test.spec)}, Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			if got := result.SidecarSets[0].Skipped; got != test.skipped {
				t.Errorf("skipped %q, want %q", got, test.skipped)
			}
			if is := result.Pod == pod; is != (test.skipped != "") {
				t.Errorf("the pod is the given one: %t", is)
			}
		})
	}
}

func TestContainers(t *testing.T) {
	const (
		shared  = "shareVolumePolicy: {type: enabled}"
		mounted = "{containers: [{name: main, env: [{name: HOST, value: a}], volumeMounts: [{name: data, mountPath: /data}, {name: logs, mountPath: /logs, subPathExpr: $(HOST)}]}, {name: side, volumeMounts: [{name: other, mountPath: /data}]}]}"
	)
	for _, test := range []struct{ name, pod, spec, want string }{
		{"SCI-7: in front by default, and behind", mainOnly, "{containers: [{name: a}, {name: b, podInjectPolicy: AfterAppContainer}, {name: c}]}",
			"a IS_INJECTED, c IS_INJECTED, main, b IS_INJECTED"},
		{"SCI-7: in the place of one of the name", "{containers: [{name: a, image: a:1}, {name: main}, {name: b}]}",
			"{containers: [{name: new}, {name: a, image: a:2}, {name: b, podInjectPolicy: AfterAppContainer}]}",
			"new IS_INJECTED, a=a:2 IS_INJECTED, main, b IS_INJECTED"},
		{"SCI-8: none twice", "{containers: [{name: main, env: [{name: A, value: theirs}, {name: B, value: b}]}]}",
			"{containers: [{name: a, env: [{name: A, value: mine}], transferEnv: [{sourceContainerName: main, envNames: [B, A]}, {sourceContainerName: main, envName: B}]}]}",
			"a A:mine IS_INJECTED B:b, main A:theirs B:b"},
		{"SCI-9: sorted, without what is missing", "{containers: [{name: main, env: [{name: A, value: a}, {name: B, value: b}, {name: C, value: c}]}]}",
			"{containers: [{name: log, transferEnv: [{sourceContainerName: main, envName: C, envNames: [B, X, A]}, {sourceContainerName: gone, envName: A}]}]}",
			"log IS_INJECTED A:a B:b C:c, main A:a B:b C:c"},
		{"SCI-9: the whole variable", "{containers: [{name: main, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}",
			"{containers: [{name: log, transferEnv: [{sourceContainerName: main, envName: A}]}]}",
			"log IS_INJECTED A<metadata.name, main A<metadata.name"},
		{"SCI-9: a container that a label names", "{containers: [{name: main, env: [{name: A, value: a}]}]}",
			"{containers: [{name: log, transferEnv: [{sourceContainerName: gone, sourceContainerNameFrom: {fieldRef: {fieldPath: \"metadata.labels['biz']\"}}, envName: A}]}]}",
			"log IS_INJECTED A:a, main A:a"},
		{"SCI-9: a container that an annotation names", "{containers: [{name: main, env: [{name: A, value: a}]}]}",
			"{containers: [{name: log, transferEnv: [{sourceContainerNameFrom: {fieldRef: {fieldPath: \"metadata.annotations['example.com/biz']\"}}, envName: A}]}]}",
			"log IS_INJECTED A:a, main A:a"},
		{"SCI-9: no other field", "{containers: [{name: main, env: [{name: A, value: a}]}]}",
			"{containers: [{name: log, transferEnv: [{sourceContainerName: main, sourceContainerNameFrom: {fieldRef: {fieldPath: metadata.name}}, envName: A}]}]}",
			"log IS_INJECTED, main A:a"},
		{"SCI-10: the pod's mounts, the first of a path", mounted, "{containers: [{name: log, " + shared + "}]}",
			"log IS_INJECTED HOST:a data@/data logs@/logs, main HOST:a data@/data logs@/logs, side other@/data"},
		{"SCI-10: its own mounts go first", mounted, "{containers: [{name: log, " + shared + ", volumeMounts: [{name: mine, mountPath: /logs}]}]}",
			"log IS_INJECTED mine@/logs data@/data, main HOST:a data@/data logs@/logs, side other@/data"},
		{"SCI-10: of its own mounts and the pod's, in one container", mounted, "{containers: [{name: log, " + shared + ", volumeMounts: [{name: mine, mountPath: /data}]}]}",
			"log IS_INJECTED HOST:a mine@/data logs@/logs, main HOST:a data@/data logs@/logs, side other@/data"},
		{"SCI-10: not by default", mounted, "{containers: [{name: log}]}",
			"log IS_INJECTED, main HOST:a data@/data logs@/logs, side other@/data"},
		{"SCI-10: not those of other sidecars", "{containers: [{name: old, env: [{name: IS_INJECTED, value: 'true'}], volumeMounts: [{name: x, mountPath: /x}]}]}",
			"{containers: [{name: log, " + shared + "}]}", "log IS_INJECTED, old IS_INJECTED x@/x"},
		{"SCI-10: those of a container that only says so", "{containers: [{name: own, env: [{name: IS_INJECTED, value: 'false'}], volumeMounts: [{name: x, mountPath: /x}]}]}",
			"{containers: [{name: log, " + shared + "}]}", "log IS_INJECTED x@/x, own IS_INJECTED x@/x"},
		{"SCI-10: $$ begins no variable", "{containers: [{name: main, env: [{name: HOST, value: a}, {name: ZONE, value: z}], volumeMounts: [{name: x, mountPath: /x, subPathExpr: $$(HOST)-$$$(ZONE)}]}]}",
			"{containers: [{name: log, " + shared + "}]}", "log IS_INJECTED ZONE:z x@/x, main HOST:a ZONE:z x@/x"},
		{"SCI-12: two for a hot one", mainOnly, "{containers: [{name: mesh, image: mesh:1, env: [{name: A, value: a}], upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: empty:1}}]}",
			"mesh-1=mesh:1 A:a IS_INJECTED SIDECARSET_VERSION<metadata.annotations['version.sidecarset.kruise.io/mesh-1'] SIDECARSET_VERSION_ALT<metadata.annotations['versionalt.sidecarset.kruise.io/mesh-1'], " +
				"mesh-2=empty:1 A:a IS_INJECTED SIDECARSET_VERSION<metadata.annotations['version.sidecarset.kruise.io/mesh-2'] SIDECARSET_VERSION_ALT<metadata.annotations['versionalt.sidecarset.kruise.io/mesh-2'], main"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(t, "{labels: {biz: main}, annotations: {example.com/biz: main}}", test.pod)
			result := inject(t, pod, setOf(t, "demo", test.spec))
			if diff := cmp.Diff(test.want, show(result.Pod.Spec.Containers)); diff != "" {
				t.Errorf("containers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeveralSets(t *testing.T) {
	pod := podOf(t, "{annotations: {kruise.io/sidecarset-injected-list: 'old,a'}}", "{initContainers: [{name: setup}, {name: fetch}], containers: [{name: main}], imagePullSecrets: [{name: mine}]}")
	a := setOf(t, "a", "{initContainers: [{name: wait, restartPolicy: Always}, {name: fetch, image: f:2}], containers: [{name: a}], imagePullSecrets: [{name: s}, {name: mine}]}")
	b := setOf(t, "b", "{initContainers: [{name: alpha}]}")
	c := setOf(t, "c", "{selector: {matchLabels: {app: db}}, containers: [{name: c}]}")
	result := inject(t, pod, nil, c, b, a)
	if got, want := show(result.Pod.Spec.InitContainers), "setup, fetch=f:2 IS_INJECTED, alpha IS_INJECTED, wait IS_INJECTED"; got != want { // SCI-6
		t.Errorf("init containers %q, want %q", got, want)
	}
	if policy := result.Pod.Spec.InitContainers[3].RestartPolicy; policy == nil || *policy != corev1.ContainerRestartPolicyAlways {
		t.Error("the native sidecar has lost its restartPolicy")
	}
	if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "mine"}, {Name: "s"}}, result.Pod.Spec.ImagePullSecrets); diff != "" { // SCI-11
		t.Errorf("pull secrets (-want +got):\n%s", diff)
	}
	if got := result.Pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation]; got != "a,b,old" { // SCI-14
		t.Errorf("injected list %q", got)
	}
	records, err := injection.Records(result.Pod, v1alpha1.SidecarSetHashAnnotation)
	if err != nil || len(records) != 1 || records["a"].SidecarSetName != "a" { // SCI-13
		t.Errorf("records %v, %v", records, err)
	}
	want := []injection.SetResult{ // SCI-4
		{Name: "a", InitContainers: []string{"wait", "fetch"}, Containers: []string{"a"}}, {Name: "b", InitContainers: []string{"alpha"}},
		{Name: "c", Skipped: `spec.selector "app=db" does not match the labels of the pod, "app=web"`}}
	if diff := cmp.Diff(want, result.SidecarSets); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// Names that cannot stand in a pod twice. (SCI-18)
func TestLeftOut(t *testing.T) {
	pod := podOf(t, "{}", "{initContainers: [{name: setup}], containers: [{name: main}]}")
	result := inject(t, pod,
		setOf(t, "a", "{initContainers: [{name: main}], containers: [{name: log}, {name: mesh-2}]}"),
		setOf(t, "b", "{containers: [{name: log}, {name: setup}, {name: mesh, upgradeStrategy: {upgradeType: HotUpgrade}}, {name: b}]}"),
		setOf(t, "c", "{containers: [{name: log}]}"))
	if got, want := show(result.Pod.Spec.Containers), "log IS_INJECTED, mesh-2 IS_INJECTED, b IS_INJECTED, main"; got != want {
		t.Errorf("containers %q, want %q", got, want)
	}
	want := []injection.SetResult{
		{Name: "a", Containers: []string{"log", "mesh-2"}, LeftOut: []string{"main"}},
		{Name: "b", Containers: []string{"b"}, LeftOut: []string{"log", "setup", "mesh-1", "mesh-2"}},
		{Name: "c", LeftOut: []string{"log"}},
	}
	if diff := cmp.Diff(want, result.SidecarSets); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if records, err := injection.Records(result.Pod, v1alpha1.SidecarSetHashAnnotation); err != nil || len(records) != 2 {
		t.Errorf("records %v, %v", records, err)
	}
}

func TestVolumes(t *testing.T) {
	pod := podOf(t, "{}", "{containers: [{name: main}], volumes: [{name: logs, hostPath: {path: /logs}}]}")
	result := inject(t, pod, setOf(t, "demo", `{initContainers: [{name: i, volumeMounts: [{name: early, mountPath: /e}]}],
		containers: [{name: c, volumeMounts: [{name: logs, mountPath: /l}, {name: data, mountPath: /d}]}],
		volumes: [{name: unused, emptyDir: {}}, {name: logs, emptyDir: {}}, {name: data, emptyDir: {}}, {name: early, emptyDir: {}}]}`))
	var got []string
	for _, v := range result.Pod.Spec.Volumes {
		got = append(got, fmt.Sprint(v.Name, " ", v.HostPath != nil))
	}
	if diff := cmp.Diff([]string{"logs true", "data false", "early false"}, got); diff != "" { // SCI-11
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
}

func TestMetadata(t *testing.T) {
	pod := podOf(t, `{annotations: {kept: mine, set: mine, merged: '{"log-agent":1}', empty: ""}}`, mainOnly)
	result := inject(t, pod, setOf(t, "demo", `{initContainers: [{name: i}], patchPodMetadata: [
		{annotations: {kept: theirs, added: theirs}},
		{patchPolicy: Overwrite, annotations: {set: theirs, new: theirs}},
		{patchPolicy: MergePatchJson, annotations: {merged: '{"envoy":2}', fresh: '{"a": 1}', empty: "no JSON"}}]}`))
	want := map[string]string{"kept": "mine", "added": "theirs", "set": "theirs", "new": "theirs", "merged": `{"envoy":2,"log-agent":1}`, "fresh": `{"a": 1}`, "empty": "no JSON",
		v1alpha1.SidecarSetInjectedListAnnotation: "demo"}
	if diff := cmp.Diff(want, result.Pod.Annotations); diff != "" { // SCI-5
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestRevisions(t *testing.T) {
	revision := func(name, of, version string, number int64, data string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1alpha1.SidecarSetNameLabel: of, v1alpha1.SidecarSetCustomVersionLabel: version}}, Revision: number, Data: runtime.RawExtension{Raw: []byte(data)}}
	}
	data := func(image string) string {
		return `{"spec":{"containers":[{"name":"log","image":"` + image + `"}],"imagePullSecrets":null,"initContainers":null,"patchPodMetadata":null,"volumes":null}}`
	}
	revisions := []*appsv1.ControllerRevision{nil, revision("demo-1", "demo", "v1", 1, data("log:1")), revision("demo-3", "demo", "v1", 3, data("log:3")),
		revision("demo-2", "demo", "v2", 2, data("log:2")), revision("other-9", "other", "v1", 9, data("log:9")), revision("demo-bad", "demo", "bad", 4, `{"spec":7}`), revision("demo-none", "demo", "none", 5, `{}`)}
	for _, test := range []struct{ strategy, want, err string }{
		{"{revisionName: demo-1, customVersion: v2}", "demo-1 log:1", ""}, // SCI-3
		{"{customVersion: v1}", "demo-3 log:3", ""},
		{"{}", " log:live", ""},
		{"{revisionName: other-9}", "", `SidecarSet demo: spec.injectionStrategy.revision: there is no revision "other-9" of the SidecarSet; correct revisionName`},
		{"{customVersion: v7}", "", "SidecarSet demo: spec.injectionStrategy.revision: the SidecarSet has no revision with the label apps.kruise.io/sidecarset-custom-version=v7; correct customVersion"},
		{"{customVersion: bad}", "", "revision demo-bad cannot be read: json: cannot unmarshal number"},
		{"{customVersion: none}", "", "revision demo-none cannot be read: it has no spec"},
	} {
		t.Run(test.strategy, func(t *testing.T) {
			set := setOf(t, "demo", "{containers: [{name: log, image: 'log:live'}], initContainers: [{name: i}], injectionStrategy: {revision: "+test.strategy+"}}")
			set.Status.LatestRevision = "demo-latest"
			result, err := injection.Inject(injection.Input{Pod: podOf(t, "{}", mainOnly), SidecarSets: []*v1alpha1.SidecarSet{set}, Revisions: revisions, Now: noon})
			if err != nil || test.err != "" {
				if test.err == "" || err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if got := result.SidecarSets[0].Revision + " " + result.Pod.Spec.Containers[0].Image; got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if live, n := result.SidecarSets[0].Revision == "", len(result.Pod.Spec.InitContainers); live != (n == 1) { // SCI-17
				t.Errorf("%d init containers", n)
			}
			records, err := injection.Records(result.Pod, v1alpha1.SidecarSetHashAnnotation)
			if want := strings.Fields("demo-latest " + test.want)[len(strings.Fields(test.want))-1]; err != nil || records["demo"].SidecarSetControllerRevision != want { // SCI-13
				t.Errorf("records %v, %v, want the revision %s", records, err, want)
			}
		})
	}
}

// Init containers have their place, and share mounts; devices bring their volumes. (SCI-6, SCI-10, SCI-11)
func TestInitContainersLikeOthers(t *testing.T) {
	pod := podOf(t, "{}", "{initContainers: [{name: own}], containers: [{name: main, env: [{name: A, value: a}], volumeMounts: [{name: data, mountPath: /data, subPathExpr: $(A)}]}], volumes: [{name: data}]}")
	set := setOf(t, "demo", "{volumes: [{name: disk}, {name: logs}], initContainers: [{name: z, podInjectPolicy: BeforeAppContainer}, {name: b, volumeDevices: [{name: disk, devicePath: /dev/x}]}, "+
		"{name: a, shareVolumePolicy: {type: enabled}, volumeMounts: [{name: logs, mountPath: /logs}]}, {name: x, podInjectPolicy: BeforeAppContainer}]}")
	r, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range r.Pod.Spec.InitContainers {
		for got += " " + c.Name; len(c.VolumeMounts) > 0; c.VolumeMounts = c.VolumeMounts[1:] {
			got += c.VolumeMounts[0].MountPath
		}
		for _, e := range c.Env[min(len(c.Env), 1):] {
			got += "+" + e.Name
		}
	}
	for _, v := range r.Pod.Spec.Volumes {
		got += " " + v.Name
	}
	if want := " x z own a/logs/data+A b data disk logs"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
