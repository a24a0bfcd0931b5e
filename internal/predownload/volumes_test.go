// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// mounts is a template with volumes of images, by the name of the volume and the image in turn.
func mounts(volumes ...string) *corev1.PodTemplateSpec {
	t := template("nginx:1", "log:1")
	for i := 0; i < len(volumes); i += 2 {
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: volumes[i], VolumeSource: corev1.VolumeSource{
			Image: &corev1.ImageVolumeSource{Reference: volumes[i+1]}}})
	}
	t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	return t
}

// IP-30: the image of a volume is pulled ahead as that of a container is. Pods whose volumes change are recreated, so that happens
// with DaemonSets alone.
func TestImageVolumes(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to *corev1.PodTemplateSpec
		want     outcome
	}{
		{"another image", mounts("model", "llm:1"), mounts("model", "llm:2"), outcome{Create: []string{"web-new-model.volume=llm:2"}, Label: created}},
		{"the same image", mounts("model", "llm:1"), mounts("model", "llm:1", "more", "llm:1"), outcome{Create: []string{"web-new-more.volume=llm:1"}, Label: created}},
		{"a new volume of the name of a container", mounts(), mounts("main", "llm:1"), outcome{Create: []string{"web-new-main.volume=llm:1"}, Label: created}},
		{"a volume that was another kind of volume", mounts(), mounts("tmp", "llm:1"), outcome{Create: []string{"web-new-tmp.volume=llm:1"}, Label: created}},
		{"a volume that goes", mounts("model", "llm:1"), mounts(), outcome{Label: created}},
		{"no reference yet", mounts(), mounts("model", ""), outcome{Label: created}},
		{"a volume and a container", mounts("model", "llm:1"), func() *corev1.PodTemplateSpec {
			t := mounts("model", "llm:2")
			t.Spec.Containers[0].Image = "nginx:2"
			return t
		}(), outcome{Create: []string{"web-new-main=nginx:2", "web-new-model.volume=llm:2"}, Label: created}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t)
			in.PodPerNode, in.inPlace = true, false
			in.From, in.to = []*appsv1.ControllerRevision{rev(t, "old", test.from)}, rev(t, "new", test.to)
			if diff := cmp.Diff(test.want, outcomeOf(decide(in))); diff != "" {
				t.Errorf("a DaemonSet (-want +got):\n%s", diff)
			}
		})
	}
	in := input(t)
	in.From, in.to = []*appsv1.ControllerRevision{rev(t, "old", mounts("model", "llm:1"))}, rev(t, "new", mounts("model", "llm:2"))
	want := outcome{Label: ignored, Reason: `the pods cannot be updated in place: replace /spec/volumes/0/image/reference: of a running pod only container images, labels, annotations and finalizers can be changed`}
	if diff := cmp.Diff(want, outcomeOf(decide(in))); diff != "" {
		t.Errorf("a CloneSet (-want +got):\n%s", diff)
	}
}
