// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// TestAppendStateIsJSON: IP-13. A state that is written without encoding/json has the bytes that it would write.
func TestAppendStateIsJSON(t *testing.T) {
	common := rapid.SampledFrom([]string{"", "main", "nginx:1.27", "docker://sha256:0a", "~ "})
	odd := rapid.SampledFrom([]string{"a<b", `a"b`, `a\b`, "a&b", "\u2028", "\x00", "\xff", "é", "\x7f"})
	texts := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
			return odd.Draw(t, "text")
		}
		return common.Draw(t, "text")
	})
	lists := rapid.OneOf(rapid.Just[[]string](nil), rapid.SliceOfN(texts, 0, 3))
	times := rapid.Map(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1<<34)), func(n int64) metav1.Time {
		if n == 0 {
			return metav1.Time{}
		}
		return metav1.NewTime(time.Unix(n/7, n).In(time.FixedZone("", 3600)))
	})
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		s := &v1alpha1.State{
			Revision: texts.Draw(t, "revision"), UpdateTimestamp: times.Draw(t, "time"),
			UpdateEnvFromMetadata: rapid.IntRange(0, 9).Draw(t, "env") == 0,
			LastContainerStatuses: map[string]v1alpha1.ContainerStatus{texts.Draw(t, "container"): {ImageID: texts.Draw(t, "image id")}},
			LastContainers: map[string]v1alpha1.LastContainer{texts.Draw(t, "container"): {
				ContainerID: texts.Draw(t, "container id"), Images: lists.Draw(t, "images"), Image: texts.Draw(t, "image")}},
			ContainerBatchesRecord: []v1alpha1.ContainerBatch{{Timestamp: times.Draw(t, "batch"), Containers: lists.Draw(t, "containers")}},
		}
		if rapid.IntRange(0, 9).Draw(t, "next") == 0 {
			s.NextContainerImages = map[string]string{"side": "x"}
		}
		got, ok := appendState(nil, s)
		if !ok {
			return
		}
		plain++
		want, err := json.Marshal(s)
		if err != nil || string(got) != string(want) {
			t.Errorf("got %s, want %s, %v", got, want, err)
		}
	})
	if plain == 0 {
		t.Error("no state was plain")
	}
}
