// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var later = injection.FeaturesOf(podwright.Release19)

// injectAs injects with features.
func injectAs(t *testing.T, features injection.Features, pod *corev1.Pod, sets ...*v1alpha1.SidecarSet) *corev1.Pod {
	t.Helper()
	result, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: sets, Features: features, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return result.Pod
}

func TestFeaturesOf(t *testing.T) {
	if got := injection.FeaturesOf(podwright.Release14); got != (injection.Features{}) {
		t.Errorf("1.4: %+v", got)
	}
	want := injection.Features{InitContainerDefaults: true, InitContainerRecords: true, NativeSidecars: true}
	if later != want {
		t.Errorf("1.9: %+v, want %+v", later, want)
	}
}

// Init containers get the defaults of containers, and another place. (SCI-40)
func TestDefaultInitContainers(t *testing.T) {
	const given = `{containers: [], initContainers: [{name: i, image: "i:1", transferEnv: [{sourceContainerNameFrom: {fieldRef: {fieldPath: "metadata.labels['a']"}}}]}, {name: j, podInjectPolicy: BeforeAppContainer}]}`
	set := setOf(t, "demo", given)
	later.Default(set)
	want := setOf(t, "demo", `{initContainers: [
		{name: i, image: "i:1", imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File,
			podInjectPolicy: AfterAppContainer, upgradeStrategy: {upgradeType: ColdUpgrade}, shareVolumePolicy: {type: disabled},
			transferEnv: [{sourceContainerNameFrom: {fieldRef: {apiVersion: v1, fieldPath: "metadata.labels['a']"}}}]},
		{name: j, imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File,
			podInjectPolicy: BeforeAppContainer, upgradeStrategy: {upgradeType: ColdUpgrade}, shareVolumePolicy: {type: disabled}}]}`)
	if diff := cmp.Diff(want.Spec.InitContainers, set.Spec.InitContainers); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	set = setOf(t, "demo", given)
	injection.Default(set)
	if diff := cmp.Diff(setOf(t, "demo", given).Spec.InitContainers, set.Spec.InitContainers); diff != "" {
		t.Errorf("of 1.4 (-want +got):\n%s", diff)
	}
}

// The bytes that hashes are made of with a native sidecar, and the hashes that stay without one. (SCI-42)
func TestHashesOfNativeSidecars(t *testing.T) {
	const (
		rest      = `"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent",`
		container = `{"name":"log",IMAGE:log"resources":{},` + rest + `"podInjectPolicy":"BeforeAppContainer","upgradeStrategy":{"upgradeType":"ColdUpgrade"},"shareVolumePolicy":{"type":"disabled"}}`
		inits     = `{"name":"init",IMAGE:init"resources":{},` + rest + `"podInjectPolicy":"AfterAppContainer","upgradeStrategy":{"upgradeType":"ColdUpgrade"},"shareVolumePolicy":{"type":"disabled"}},` +
			`{"name":"proxy",IMAGE:proxy"resources":{},"restartPolicy":"Always",` + rest + `"podInjectPolicy":"AfterAppContainer","upgradeStrategy":{"upgradeType":"ColdUpgrade"},"shareVolumePolicy":{"type":"disabled"}}`
		all = `{"containers":[` + container + `],"initContainers":[` + inits + `]}`
	)
	hash := func(images ...string) string {
		sum := sha256.Sum256([]byte(strings.NewReplacer(images...).Replace(all)))
		return rand.SafeEncodeString(hex.EncodeToString(sum[:]))
	}
	want := injection.Hashes{
		Containers:   hash("IMAGE:log", `"image":"log:1",`, "IMAGE:init", `"image":"init:1",`, "IMAGE:proxy", `"image":"proxy:1",`),
		WithoutImage: hash("IMAGE:log", "", "IMAGE:init", "", "IMAGE:proxy", ""),
	}
	const native = `{containers: [{name: log, image: "log:1"}], initContainers: [{name: init, image: "init:1"}, {name: proxy, image: "proxy:1", restartPolicy: Always}]}`
	for name, features := range map[string]injection.Features{"1.9": later, "defaults that are not stored": {NativeSidecars: true}} {
		if got, err := features.HashesOf(setOf(t, "demo", native)); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	for name, spec := range map[string]string{
		"no native sidecar": `{containers: [{name: log, image: 'busybox:1.0'}], initContainers: [{name: init, image: "init:1"}, {name: once, restartPolicy: Never}]}`,
		"none at all":       `{containers: [{name: log, image: 'busybox:1.0'}]}`,
	} {
		if got, err := later.HashesOf(setOf(t, "demo", spec)); err != nil || got != (injection.Hashes{Containers: logHash, WithoutImage: logWithoutImage}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	got, err := injection.HashesOf(setOf(t, "demo", `{containers: [{name: log, image: 'busybox:1.0'}], initContainers: [{name: proxy, restartPolicy: Always}]}`))
	if err != nil || got != (injection.Hashes{Containers: logHash, WithoutImage: logWithoutImage}) {
		t.Errorf("of 1.4: %v, %v", got, err)
	}
}

// Which SidecarSets leave records, and whom these name. (SCI-13, SCI-41, SCI-42)
func TestRecordsOfInitContainers(t *testing.T) {
	const (
		plain  = "{containers: [], initContainers: [{name: init}]}"
		native = "{containers: [], initContainers: [{name: init}, {name: proxy, restartPolicy: Always}]}"
		both   = "{containers: [{name: log}], initContainers: [{name: init}, {name: aproxy, restartPolicy: Always}]}"
	)
	natives, records := injection.Features{NativeSidecars: true}, injection.Features{InitContainerRecords: true}
	for _, test := range []struct {
		name     string
		features injection.Features
		spec     string
		want     string // the list of the record; none: there is no record
	}{
		{"1.4", injection.Features{}, native, "none"},
		{"1.4, a container beside it", injection.Features{}, both, "log"},
		{"SCI-41: a plain one", records, plain, ""},
		{"SCI-41: a native one", records, native, ""},
		{"SCI-42: a plain one", natives, plain, "none"},
		{"SCI-42: a native one", natives, native, "proxy"},
		{"SCI-42: a container beside it", natives, both, "aproxy,log"},
		{"1.9", later, native, "proxy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := setOf(t, "demo", test.spec)
			pod := injectAs(t, test.features, podOf(t, "{}", mainOnly), set)
			hashes, err := test.features.HashesOf(set)
			if err != nil {
				t.Fatal(err)
			}
			for annotation, hash := range map[string]string{v1alpha1.SidecarSetHashAnnotation: hashes.Containers, v1alpha1.SidecarSetHashWithoutImageAnnotation: hashes.WithoutImage} {
				found, err := injection.Records(pod, annotation)
				if err != nil {
					t.Fatal(err)
				}
				record, is := found["demo"]
				if got := strings.Join(record.SidecarList, ","); is != (test.want != "none") || is && (got != test.want || record.SidecarSetHash != hash) {
					t.Errorf("annotation %s: %+v, want the list %s and the hash %s", annotation, record, test.want, hash)
				}
			}
			if again := injectAs(t, test.features, pod, set); cmp.Diff(pod, again) != "" { // SCI-16
				t.Errorf("a second injection changes it:\n%s", cmp.Diff(pod, again))
			}
			if got := pod.Annotations[injection.DefaultContainerAnnotation]; (got != "") != (test.spec == both) { // SCI-19
				t.Errorf("default container %q", got)
			}
		})
	}
}

// One that another SidecarSet has injected before leaves no record. (SCI-18, SCI-41)
func TestNoRecordWithoutInjection(t *testing.T) {
	const spec = "{containers: [], initContainers: [{name: init}]}"
	found, err := injection.Records(injectAs(t, later, podOf(t, "{}", mainOnly), setOf(t, "a", spec), setOf(t, "b", spec)), v1alpha1.SidecarSetHashAnnotation)
	if _, second := found["b"]; err != nil || len(found) != 1 || second {
		t.Errorf("records %v, %v", found, err)
	}
}

// With the gate containers stand in the order of their names over all SidecarSets. (SCI-43)
func TestSortContainers(t *testing.T) {
	sets := []*v1alpha1.SidecarSet{
		setOf(t, "a", "{containers: [{name: z}, {name: m, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}, {name: x, podInjectPolicy: AfterAppContainer}]}"),
		setOf(t, "b", "{containers: [{name: main}, {name: m-0}, {name: c}, {name: b, podInjectPolicy: AfterAppContainer}]}"),
	}
	for sorted, want := range map[bool]string{false: "z m-1 m-2 m-0 c own main x b", true: "c m-0 m-1 m-2 z own main b x"} {
		pod := injectAs(t, injection.Features{SortContainers: sorted}, podOf(t, "{}", "{containers: [{name: own}, {name: main}]}"), sets...)
		var got []string
		for _, c := range pod.Spec.Containers {
			got = append(got, c.Name)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("sorted %t: %s, want %s", sorted, got, want)
		}
	}
}

// What injects init containers alone names no default container, whichever sidecar stands first. (SCI-19, SCI-41)
func TestNoDefaultContainerForInitContainers(t *testing.T) {
	pod := podOf(t, "{}", "{containers: [{name: old, env: [{name: IS_INJECTED, value: 'true'}]}, {name: main}]}")
	for spec, want := range map[string]string{"{initContainers: [{name: i}]}": "", "{initContainers: [{name: i}], containers: [{name: log}]}": "main"} {
		result, err := injection.Inject(injection.Input{Pod: pod, Namespace: namespace(), SidecarSets: []*v1alpha1.SidecarSet{setOf(t, "demo", spec)}, Now: noon,
			Features: injection.Features{InitContainerRecords: true}})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Pod.Annotations[injection.DefaultContainerAnnotation]; got != want {
			t.Errorf("%s: the default container is %q, want %q", spec, got, want)
		}
	}
}
