// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
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

func TestErrors(t *testing.T) {
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

// A policy is part of both hashes, and a SidecarSet without one keeps its hash. (SCI-15)
func TestComputedResourcesAreHashed(t *testing.T) {
	plain := setOf(t, "demo", "{containers: [{name: log, image: a}]}")
	policy := setOf(t, "demo", "{containers: [{name: log, image: a, resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {requests: {cpu: cpu}}}}]}")
	one, err := injection.HashesOf(plain)
	if err != nil {
		t.Fatal(err)
	}
	other, err := injection.HashesOf(policy)
	if err != nil || one.Containers == other.Containers || one.WithoutImage == other.WithoutImage {
		t.Errorf("error %v, hashes %v and %v", err, one, other)
	}
}
