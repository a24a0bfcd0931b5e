// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/sidecar/injection"
)

var later = injection.FeaturesOf(podwright.Release19)

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
