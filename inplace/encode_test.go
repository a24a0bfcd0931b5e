// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// TestPlainStateIsJSON: IP-13. A state that is written without encoding/json has the bytes that it would write.
func TestPlainStateIsJSON(t *testing.T) {
	common := rapid.SampledFrom([]string{"", "main", "nginx:1.27", "docker://sha256:0a", "~ "})
	odd := rapid.SampledFrom([]string{"a<b", `a"b`, `a\b`, "a&b", "\u2028", "\x00", "\xff", "é", "\x7f"})
	texts := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
			return odd.Draw(t, "text")
		}
		return common.Draw(t, "text")
	})
	times := rapid.Map(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1<<34)), func(n int64) metav1.Time {
		if n == 0 {
			return metav1.Time{}
		}
		return metav1.NewTime(time.Unix(n/7, n).In(time.FixedZone("", 3600)))
	})
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		name, began, now := texts.Draw(t, "container"), times.Draw(t, "time"), times.Draw(t, "batch")
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: texts.Draw(t, "image before")}}}}
		if rapid.IntRange(0, 9).Draw(t, "unreported") > 0 {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: name, ImageID: texts.Draw(t, "image id"), ContainerID: texts.Draw(t, "container id")}}
		}
		c := change{images: map[string]string{name: texts.Draw(t, "image")}}
		if rapid.IntRange(0, 9).Draw(t, "another") == 0 {
			c.images["side"] = "x"
		}
		revision, env := texts.Draw(t, "revision"), rapid.IntRange(0, 9).Draw(t, "env") == 0
		state := func() *v1alpha1.State {
			return &v1alpha1.State{Revision: revision, UpdateTimestamp: began, UpdateEnvFromMetadata: env}
		}
		s, is := plainOf(pod, state(), c, change{})
		if !is {
			return
		}
		plain++
		got, wanted, written, want := &podpatch.Patch{}, state(), &podpatch.Patch{}, &podpatch.Patch{}
		recordImages(want, pod, wanted, c.images)
		last := wanted.LastContainers[name]
		last.Image = c.images[name]
		wanted.LastContainers[name] = last
		wanted.ContainerBatchesRecord = []v1alpha1.ContainerBatch{{Timestamp: now, Containers: []string{name}}}
		if err := writeState(want, pod, wanted); err != nil {
			t.Fatal(err)
		}
		writePlain(got, &s, now)
		if diff := cmp.Diff(want.Annotations, got.Annotations); diff != "" {
			t.Errorf("the record (-want +got):\n%s", diff)
		}
		if err := writeBatch(written, pod, state(), c, now.Time); err != nil || written.IfUnchanged != want.IfUnchanged || written.Throughout != want.Throughout || !maps.Equal(written.Images, c.images) {
			t.Errorf("%v, the patch is %v", err, written)
		}
	})
	if plain == 0 {
		t.Error("no state was plain")
	}
}
