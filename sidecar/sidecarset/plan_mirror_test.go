// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const mirror = "mirror.example.com/"

// addMirrored adds a pod whose images a webhook of others rewrites to those of a mirror, once it is injected.
func (w *world) addMirrored(name string) {
	w.t.Helper()
	w.add(name)
	pod := w.pod(name)
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			list[i].Image = mirror + list[i].Image
		}
	}
	w.kubelet(name)
}

const withAll = `{containers: [{name: log, image: "log:v1"}, {name: trace, image: "trace:v1"},
  {name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}],
  initContainers: [{name: proxy, image: "proxy:v1", restartPolicy: Always}]}`

// patches are the images that a plan replaces in pods, in order.
func patches(plan *Plan) (all []string) {
	for _, p := range plan.Patch {
		for _, name := range slices.Sorted(maps.Keys(p.Patch.Images)) {
			all = append(all, name+"="+p.Patch.Images[name])
		}
		all = append(all, string(p.Kind)+";")
	}
	return all
}

// An update replaces the images that differ between the revision of a pod and the spec. It leaves the others as the pod has
// them. (SCS-41)
func TestImagesOfMirror(t *testing.T) {
	forget := func(w *world) { w.revisions = nil }
	for _, test := range []struct {
		name  string
		edits []string       // of the spec, in pairs
		after func(w *world) // what happens then
		want  string         // what is replaced until all is settled
	}{
		{"one of two", []string{"log:v1", "log:v2"}, nil, "log=log:v2 UpdateInPlace;"},
		{"all", []string{":v1", ":v2"}, nil,
			"log=log:v2 mesh-2=mesh:v2 proxy=proxy:v2 trace=trace:v2 UpdateInPlace; mesh-1=mesh:empty ResetContainer;"},
		{"a native sidecar", []string{"proxy:v1", "proxy:v2"}, nil, "proxy=proxy:v2 UpdateInPlace;"},
		{"a hot one", []string{"mesh:v1", "mesh:v2"}, nil, "mesh-2=mesh:v2 UpdateInPlace; mesh-1=mesh:empty ResetContainer;"},
		{"the name in the mirror", []string{"log:v1", mirror + "log:v1"}, nil, "UpdateInPlace;"},
		{"what others have put in later", []string{"log:v1", "log:v2"}, func(w *world) {
			w.pods[0].Spec.Containers[1].Image = "other:v1"
			w.kubelet()
		}, "log=log:v2 UpdateInPlace;"},
		{"an empty one is said to work", []string{"log:v1", "log:v2"}, func(w *world) {
			w.pods[0].Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation] = `{"mesh":"mesh-2"}`
		}, "mesh-1=mesh:empty ResetContainer; log=log:v2 mesh-1=mesh:v1 UpdateInPlace;"},
		{"a pod of an edit that is reconciled later names the revision before", []string{"log:v1", "log:v2"}, func(w *world) {
			w.pods = nil
			w.addMirrored("a")
			w.settle()
			w.become(strings.NewReplacer("log:v1", "log:v2", "trace:v1", "trace:v2").Replace(withAll))
		}, "trace=trace:v2 UpdateInPlace;"},
		{"the history does not have the revision", []string{"log:v1", "log:v2"}, forget, "log=log:v2 mesh-2=mesh:v1 proxy=proxy:v1 trace=trace:v1 UpdateInPlace; mesh-1=mesh:empty ResetContainer;"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newNativeWorld(t, withAll)
			w.settle()
			w.addMirrored("a")
			w.settle()
			w.become(strings.NewReplacer(test.edits...).Replace(withAll))
			if test.after != nil {
				test.after(w)
			}
			var got []string
			for range 10 {
				got = append(got, patches(w.sync())...)
				w.kubelet()
			}
			if is := strings.Join(got, " "); is != test.want {
				t.Errorf("replaces %s\n   want %s", is, test.want)
			}
			if s := w.set.Status; s.UpdatedReadyPods != 1 || len(s.Conditions) > 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// Native sidecars that are updated with their pods are not called others for the name of a mirror, unless the spec had that name. (SCS-14,
// SCS-41)
func TestNativesOfMirror(t *testing.T) {
	w := newWorld(t, withAll)
	w.settle()
	w.addMirrored("a")
	for _, test := range []struct{ image, want string }{
		{"proxy:v1", ""}, {"registry.example.com/proxy:v1", ""}, {"team/proxy:v1", mirror + "proxy:v1"}, {"proxy:v2", mirror + "proxy:v1"},
		{mirror + "proxy:v1", ""}, {"proxy:v1", mirror + "proxy:v1"},
	} {
		w.become(strings.Replace(withAll, "proxy:v1", test.image, 1))
		w.settle()
		var got string
		if c := conditionOf(&w.set.Status, notUpgradable); c != nil {
			got = c.Message
		}
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("image %s: says %q, want %q", test.image, got, test.want)
		}
	}
}
