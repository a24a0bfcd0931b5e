// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/nodeagent"
)

func TestNewest(t *testing.T) {
	one := func(id, name string, created int64, attempt uint32) *criv1.Container {
		return &criv1.Container{Id: id, CreatedAt: created, Metadata: &criv1.ContainerMetadata{Attempt: attempt},
			Labels: map[string]string{nodeagent.ContainerNameLabel: name}}
	}
	got := map[string]string{}
	for name, c := range nodeagent.Newest([]*criv1.Container{
		one("a2", "a", 20, 0), one("a1", "a", 10, 5), one("b1", "b", 5, 1), one("b2", "b", 5, 2),
		one("c1", "c", 7, 1), one("c2", "c", 7, 1), {Id: "foreign", CreatedAt: 99}, nil,
	}) {
		got[name] = c.GetId()
	}
	if diff := cmp.Diff(map[string]string{"a": "a2", "b": "b2", "c": "c2"}, got); diff != "" {
		t.Errorf("newest (-want +got):\n%s", diff)
	}
}

func TestAnnotations(t *testing.T) {
	with := func(key, value string) *criv1.Container {
		return &criv1.Container{Id: "x", Annotations: map[string]string{key: value}}
	}
	for _, test := range []struct {
		text string
		want int32
		fail bool
	}{{"0", 0, false}, {"12", 12, false}, {"", 0, true}, {"-1", 0, true}, {"0x1", 0, true}, {"2147483648", 0, true}} {
		got, err := nodeagent.RestartCount(with(nodeagent.RestartCountAnnotation, test.text))
		if got != test.want || (err != nil) != test.fail {
			t.Errorf("restart count %q: %d, %v", test.text, got, err)
		}
	}
	for _, test := range []struct {
		text string
		want uint64
		fail bool
	}{{"3452fffa", 877854714, false}, {"0", 0, false}, {"", 0, true}, {"xyz", 0, true}, {"-1", 0, true}} {
		got, err := nodeagent.KubeletHash(with(nodeagent.HashAnnotation, test.text))
		if got != test.want || (err != nil) != test.fail {
			t.Errorf("hash %q: %d, %v", test.text, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), nodeagent.HashAnnotation) {
			t.Errorf("the error does not name the annotation: %v", err)
		}
	}
}

func TestContainerIDs(t *testing.T) {
	if got := nodeagent.ContainerID("containerd", "4fa6"); got != "containerd://4fa6" {
		t.Errorf("got %s", got)
	}
	for _, test := range []struct {
		containerID, runtime, id string
		ok                       bool
	}{
		{"containerd://4fa6", "containerd", "4fa6", true},
		{"cri-o://a://b", "cri-o", "a://b", true},
		{"", "", "", false}, {"4fa6", "4fa6", "", false}, {"://4fa6", "", "4fa6", false}, {"docker://", "docker", "", false},
	} {
		runtime, id, ok := nodeagent.SplitContainerID(test.containerID)
		if runtime != test.runtime || id != test.id || ok != test.ok {
			t.Errorf("%q: %q, %q, %v", test.containerID, runtime, id, ok)
		}
	}
}

// The kubelet says whose pod it is, and its source.
func TestPodOf(t *testing.T) {
	labels := map[string]string{
		"app": "web", "io.kubernetes.pod.namespace": "shop", "io.kubernetes.pod.name": "web-0", "io.kubernetes.pod.uid": "5b1e",
	}
	if got, want := nodeagent.PodOf(labels), (nodeagent.PodIdentity{Namespace: "shop", Name: "web-0", UID: "5b1e"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for source, want := range map[string]bool{"api": false, "file": true, "http": true} {
		if got := nodeagent.Static(&criv1.PodSandboxStatus{Annotations: map[string]string{"kubernetes.io/config.source": source}}); got != want {
			t.Errorf("a pod from %s is static: %v", source, got)
		}
	}
	if nodeagent.Static(nil) || nodeagent.Static(&criv1.PodSandboxStatus{}) {
		t.Error("a pod of which nothing is known is static")
	}
}
