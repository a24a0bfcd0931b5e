// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Bytes that clusters hold. (SCI-15, SCI-17)
const (
	logHash         = "v584b24czd84bc2449cvxxvc5z44587xz782bwxz2v799cz2cfbxbw62z94fw9dv"
	logWithoutImage = "4424wfff8b57d47vb7684zc4bb5478vxwwdcz7dd2xdwbf4d4446424d4w29cwd5"
	logRevision     = "demo-5f8bd86b65"
)

func logSet(t testing.TB) *v1alpha1.SidecarSet {
	return setOf(t, "demo", "{containers: [{name: log, image: 'busybox:1.0'}]}")
}

func TestHashes(t *testing.T) {
	set := logSet(t)
	got, err := injection.HashesOf(set)
	if want := (injection.Hashes{Containers: logHash, WithoutImage: logWithoutImage}); err != nil || got != want {
		t.Errorf("hashes %v, %v, want %v", got, err, want)
	}
	if diff := cmp.Diff(logSet(t), set); diff != "" {
		t.Errorf("the SidecarSet is changed:\n%s", diff)
	}
	for _, test := range []struct {
		spec           string
		hash, noImages bool // whether they stay
	}{
		{"{containers: [{name: log, image: 'busybox:1.0'}], initContainers: [{name: i}], imagePullSecrets: [{name: s}], updateStrategy: {paused: true}, patchPodMetadata: [{annotations: {a: b}}], volumes: [{name: v, emptyDir: {}}]}", true, true},
		{"{containers: [{name: log, image: 'busybox:2.0', imagePullPolicy: IfNotPresent}]}", false, true},
		{"{containers: [{name: log, image: 'busybox:1.0', env: [{name: A}]}]}", false, false},
		{"{containers: [{name: log, image: 'busybox:1.0', transferEnv: [{envName: A}]}]}", false, false},
		{"{containers: [{name: log, image: 'busybox:1.0', upgradeStrategy: {hotUpgradeEmptyImage: e}}]}", false, false},
	} {
		got, err := injection.HashesOf(setOf(t, "demo", test.spec))
		if err != nil || (got.Containers == logHash) != test.hash || (got.WithoutImage == logWithoutImage) != test.noImages {
			t.Errorf("%s: hashes %v, %v", test.spec, got, err)
		}
	}
	if _, err := injection.HashesOf(nil); err == nil {
		t.Error("no error without a SidecarSet")
	}
}

func TestRevisionData(t *testing.T) {
	set := logSet(t)
	injection.Default(set)
	data, err := injection.RevisionData(set)
	const want = `{"spec":{"containers":[{"image":"busybox:1.0","imagePullPolicy":"IfNotPresent","name":"log","podInjectPolicy":"BeforeAppContainer","resources":{},` +
		`"shareVolumePolicy":{"type":"disabled"},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","upgradeStrategy":{"upgradeType":"ColdUpgrade"}}],` +
		`"imagePullSecrets":null,"initContainers":null,"patchPodMetadata":null,"volumes":null}}`
	if err != nil || string(data) != want {
		t.Errorf("data %s, %v", data, err)
	}
	if got := revision.Name(set.Name, revision.Hash(data, nil)); got != logRevision {
		t.Errorf("revision %s, want %s", got, logRevision)
	}
	if _, err := injection.RevisionData(nil); err == nil {
		t.Error("no error without a SidecarSet")
	}
}

func TestRecords(t *testing.T) {
	set := logSet(t)
	set.Status.LatestRevision = logRevision
	pod := podOf(t, `{annotations: {kruise.io/sidecarset-hash: '{"old":"abc"}', kruise.io/sidecarset-hash-without-image: '{"old":{"hash":"x","sidecarSetName":"old","updateTimestamp":"2020-01-01T00:00:00Z"}}'}}`, mainOnly)
	result := inject(t, pod, set)
	want := map[string]string{ // SCI-13
		v1alpha1.SidecarSetHashAnnotation: `{"demo":{"updateTimestamp":"2026-01-01T12:00:00Z","hash":"` + logHash + `","sidecarSetName":"demo","sidecarList":["log"],"controllerRevision":"demo-5f8bd86b65"},` +
			`"old":{"updateTimestamp":null,"hash":"abc","sidecarSetName":"old"}}`,
		v1alpha1.SidecarSetHashWithoutImageAnnotation: `{"demo":{"updateTimestamp":"2026-01-01T12:00:00Z","hash":"` + logWithoutImage + `","sidecarSetName":"demo","sidecarList":["log"]},` +
			`"old":{"updateTimestamp":"2020-01-01T00:00:00Z","hash":"x","sidecarSetName":"old"}}`,
		v1alpha1.SidecarSetInjectedListAnnotation: "demo",
		injection.DefaultContainerAnnotation:      "main", // SCI-19
	}
	if diff := cmp.Diff(want, result.Pod.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// A record keeps its time if it says the same: the hash and the revision. (SCI-13, SCI-16)
func TestRecordsThatStand(t *testing.T) {
	for before, stays := range map[string]bool{
		`{"hash":"` + logHash + `","sidecarSetName":"demo","sidecarList":["log"],"controllerRevision":"` + logRevision + `","updateTimestamp":"2020-01-01T00:00:00Z"}`: true,
		`{"hash":"` + logHash + `","sidecarSetName":"demo","sidecarList":["log"],"controllerRevision":"demo-old","updateTimestamp":"2020-01-01T00:00:00Z"}`:            false,
		`{"hash":"old","sidecarSetName":"demo","sidecarList":["log"],"controllerRevision":"` + logRevision + `","updateTimestamp":"2020-01-01T00:00:00Z"}`:             false,
	} {
		set := logSet(t)
		set.Status.LatestRevision = logRevision
		pod := podOf(t, "{}", mainOnly)
		pod.Annotations = map[string]string{v1alpha1.SidecarSetHashAnnotation: `{"demo":` + before + `}`}
		records, err := injection.Records(inject(t, pod, set).Pod, v1alpha1.SidecarSetHashAnnotation)
		if err != nil {
			t.Fatal(err)
		}
		got := records["demo"]
		if got.SidecarSetHash != logHash || got.SidecarSetControllerRevision != logRevision || (got.UpdateTimestamp.Year() == 2020) != stays {
			t.Errorf("after %s: %+v, want its time to stay: %t", before, got, stays)
		}
	}
}

// A hot container that was updated before stays as it was. (SCI-12, SCI-16)
func TestHotRecords(t *testing.T) {
	set := setOf(t, "demo", "{containers: [{name: mesh, upgradeStrategy: {upgradeType: HotUpgrade}}, {name: new, upgradeStrategy: {upgradeType: HotUpgrade}}]}")
	pod := podOf(t, `{annotations: {kruise.io/sidecarset-working-hotupgrade-container: '{"mesh":"mesh-2"}'}}`, mainOnly)
	result := inject(t, pod, set)
	want := map[string]string{
		v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation: `{"mesh":"mesh-2","new":"new-1"}`,
		"version.sidecarset.kruise.io/new-1":                    "1", "versionalt.sidecarset.kruise.io/new-1": "0",
		"version.sidecarset.kruise.io/new-2": "0", "versionalt.sidecarset.kruise.io/new-2": "1",
	}
	for key := range result.Pod.Annotations {
		if _, wanted := want[key]; !wanted && strings.Contains(key, "version") {
			t.Errorf("annotation %s", key)
		}
	}
	for key, value := range want {
		if got := result.Pod.Annotations[key]; got != value {
			t.Errorf("annotation %s is %q, want %q", key, got, value)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ name, annotations, spec, want string }{
		{"SCI-13", "{kruise.io/sidecarset-hash: '[]'}", "{containers: [{name: log}]}",
			"annotation kruise.io/sidecarset-hash of the pod is no JSON object of records: "},
		{"SCI-13, without images", "{kruise.io/sidecarset-hash-without-image: x}", "{containers: [{name: log}]}",
			"annotation kruise.io/sidecarset-hash-without-image of the pod is no JSON object of records: "},
		{"SCI-12", "{kruise.io/sidecarset-working-hotupgrade-container: '[]'}", "{containers: [{name: log, upgradeStrategy: {upgradeType: HotUpgrade}}]}",
			"annotation kruise.io/sidecarset-working-hotupgrade-container of the pod is no JSON object of names: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := injection.Inject(injection.Input{Pod: podOf(t, "{annotations: "+test.annotations+"}", mainOnly),
				SidecarSets: []*v1alpha1.SidecarSet{setOf(t, "demo", test.spec)}, Now: noon})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := injection.Inject(injection.Input{Now: noon}); err == nil {
		t.Error("no error without a pod")
	}
	if _, err := injection.Inject(injection.Input{Pod: podOf(t, "{}", mainOnly)}); err == nil {
		t.Error("no error without a time")
	}
}

func TestDefault(t *testing.T) {
	set := setOf(t, "demo", `{containers: [{name: log, image: 'log:latest', ports: [{containerPort: 80}], transferEnv: [{sourceContainerNameFrom: {fieldRef: {fieldPath: "metadata.labels['a']"}}}]}],
		initContainers: [{name: i}], volumes: [{name: v, secret: {secretName: s}}], injectionStrategy: {revision: {customVersion: v1}}, patchPodMetadata: [{annotations: {a: b}}]}`)
	injection.Default(set)
	want := setOf(t, "demo", `{containers: [{name: log, image: 'log:latest', imagePullPolicy: Always, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File,
			ports: [{containerPort: 80, protocol: TCP}], podInjectPolicy: BeforeAppContainer, upgradeStrategy: {upgradeType: ColdUpgrade}, shareVolumePolicy: {type: disabled},
			transferEnv: [{sourceContainerNameFrom: {fieldRef: {apiVersion: v1, fieldPath: "metadata.labels['a']"}}}]}],
		initContainers: [{name: i}], volumes: [{name: v, secret: {secretName: s, defaultMode: 420}}], injectionStrategy: {revision: {customVersion: v1, policy: Always}},
		updateStrategy: {type: RollingUpdate, partition: 0, maxUnavailable: 1}, revisionHistoryLimit: 10, patchPodMetadata: [{annotations: {a: b}, patchPolicy: Retain}]}`)
	if diff := cmp.Diff(want, set); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	injection.Default(set)
	if diff := cmp.Diff(want, set); diff != "" {
		t.Errorf("a second call changes them:\n%s", diff)
	}
	never := setOf(t, "demo", "{updateStrategy: {type: NotUpdate}}")
	if injection.Default(never); never.Spec.UpdateStrategy.Partition != nil || never.Spec.UpdateStrategy.MaxUnavailable != nil {
		t.Errorf("strategy %+v", never.Spec.UpdateStrategy)
	}
}
