// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// asked asks about an object of generation 2.
func asked[T any](status func(*T) rollout.Status) func(t *testing.T, text string) rollout.Status {
	return func(t *testing.T, text string) rollout.Status {
		object := new(T)
		if err := yaml.UnmarshalStrict([]byte("metadata: {generation: 2}\n"+text), object); err != nil {
			t.Fatal(err)
		}
		return status(object)
	}
}

// TestRolloutStatus shows in testdata/rollouts.txt what each kind says of its rollouts, by the object alone.
func TestRolloutStatus(t *testing.T) {
	ask := map[string]func(*testing.T, string) rollout.Status{
		"CloneSet": asked(cloneset.RolloutStatus), "StatefulSet": asked(statefulset.RolloutStatus), "DaemonSet": asked(daemonset.RolloutStatus),
		"UnitedDeployment": asked(uniteddeployment.RolloutStatus), "SidecarSet": asked(sidecarset.RolloutStatus),
		"BroadcastJob": asked(broadcastjob.RolloutStatus), "AdvancedCronJob": asked(cronjob.RolloutStatus),
		"ImageListPullJob": asked(imagelistpulljob.RolloutStatus), "ImagePullJob": asked(imagepulljob.RolloutStatus),
		"SidecarSet1.9": asked(sidecarset.FeaturesOf(podwright.Release19).RolloutStatus),
		"DaemonSet1.9":  asked(daemonset.FeaturesOf(podwright.Release19).RolloutStatus),
	}
	datadriven.RunTest(t, "testdata/rollouts.txt", func(t *testing.T, d *datadriven.TestData) string {
		status := ask[d.Cmd](t, d.Input)
		if status.Done() != strings.HasPrefix(status.String(), "complete") {
			t.Errorf("%s: %s, done: %t", d.Pos, status, status.Done())
		}
		return status.String() + "\n"
	})
}
