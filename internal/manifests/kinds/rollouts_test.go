// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"strings"
	"testing"

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
		if err := yaml.UnmarshalStrict([]byte("{metadata: {generation: 2}, "+text+"}"), object); err != nil {
			t.Fatal(err)
		}
		return status(object)
	}
}

// What each kind says of its rollouts, by the object alone.
func TestRolloutStatus(t *testing.T) {
	const seen, stalled = "observedGeneration: 2, ", `conditions: [{type: Stalled, status: "True", message: no progress}]`
	for kind, of := range map[string]struct {
		ask   func(*testing.T, string) rollout.Status
		cases []struct{ object, want string }
	}{
		"CloneSet": {asked(cloneset.RolloutStatus), []struct{ object, want string }{
			{"status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}", "in progress: the controller has not seen the present spec yet"},
			{"spec: {replicas: 3}, status: {" + seen + "replicas: 3, expectedUpdatedReplicas: 3, updatedReplicas: 2}", "in progress: 2 out of 3 new pods have been updated"},
			{"spec: {replicas: 3}, status: {" + seen + "replicas: 4, expectedUpdatedReplicas: 3, updatedReplicas: 3}", "in progress: 1 old pods are pending termination"},
			{"spec: {replicas: 3}, status: {" + seen + "replicas: 2, expectedUpdatedReplicas: 2, updatedReplicas: 2}", "in progress: 2 out of 3 pods have been created"},
			{"spec: {replicas: 3}, status: {" + seen + "replicas: 3, expectedUpdatedReplicas: 3, updatedReplicas: 3, updatedReadyReplicas: 3, updatedAvailableReplicas: 1}", "in progress: 1 of 3 updated pods are available"},
			{"spec: {replicas: 3}, status: {" + seen + "replicas: 3, expectedUpdatedReplicas: 2, updatedReplicas: 2, updatedAvailableReplicas: 2}", "complete: 2 new pods have been updated"},
			{"status: {" + seen + "replicas: 1, expectedUpdatedReplicas: 1, updatedReplicas: 1, updatedAvailableReplicas: 1}", "complete"},
			{"status: {" + seen + stalled + "}", "failed: no progress"},
		}},
		"StatefulSet": {asked(statefulset.RolloutStatus), []struct{ object, want string }{
			{"spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {" + seen + "replicas: 3, readyReplicas: 2, updatedReplicas: 2}", "in progress: 2 of 3 updated pods are available"},
			{"spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {" + seen + "replicas: 3, readyReplicas: 3, updatedReplicas: 2}", "complete: 2 new pods have been updated"},
			{"spec: {replicas: 3, updateStrategy: {type: OnDelete}}, status: {" + seen + "replicas: 3}", "left to users: strategy OnDelete"},
			{"spec: {updateStrategy: {type: OnDelete}}, status: {}", "in progress: the controller has not seen the present spec yet"},
			{"status: {" + seen + stalled + "}", "failed: no progress"},
		}},
		"DaemonSet": {asked(daemonset.RolloutStatus), []struct{ object, want string }{
			{"spec: {updateStrategy: {rollingUpdate: {partition: 3}}}, status: {" + seen + "desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 0}", "in progress: 0 out of 1 new pods have been updated"},
			{"status: {" + seen + "desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 4, numberAvailable: 4}", "complete"},
			{"spec: {updateStrategy: {type: OnDelete}}, status: {" + seen + "desiredNumberScheduled: 4}", "left to users: strategy OnDelete"},
			{"status: {" + seen + stalled + "}", "failed: no progress"},
		}},
		"UnitedDeployment": {asked(uniteddeployment.RolloutStatus), []struct{ object, want string }{
			{"spec: {replicas: 4}, status: {" + seen + "replicas: 4, updatedReplicas: 1, updateStatus: {currentPartitions: {a: 1, b: 1}}}", "in progress: 1 out of 2 new pods have been updated"},
			{"spec: {replicas: 4}, status: {" + seen + "replicas: 4, updatedReplicas: 4, updatedReadyReplicas: 4}", "complete"},
		}},
		"SidecarSet": {asked(sidecarset.RolloutStatus), []struct{ object, want string }{
			{"spec: {updateStrategy: {partition: 50%}}, status: {" + seen + "matchedPods: 3, updatedPods: 1}", "in progress: 1 out of 2 new pods have been updated"},
			{"spec: {updateStrategy: {partition: half}}, status: {" + seen + "matchedPods: 3}", "failed: spec.updateStrategy.partition: "},
			{"spec: {updateStrategy: {type: NotUpdate}}, status: {" + seen + "matchedPods: 3}", "left to users: strategy NotUpdate"},
			{"status: {" + seen + "matchedPods: 3, updatedPods: 3, updatedReadyPods: 3}", "complete"},
		}},
		"BroadcastJob": {asked(broadcastjob.RolloutStatus), []struct{ object, want string }{
			{"status: {}", "in progress: the controller has not seen the present spec yet"},
			{`status: {startTime: "2026-01-01T00:00:00Z", desired: 4, succeeded: 2, failed: 1}`, "in progress: the pods of 3 out of 4 nodes have ended"},
			{`status: {conditions: [{type: Failed, status: "True", message: a pod failed}, {type: Stalled, status: "True"}]}`, "failed: a pod failed"},
			{`status: {conditions: [{type: Failed, status: "False"}, {type: Complete, status: "True"}]}`, "complete"},
		}},
		"AdvancedCronJob": {asked(cronjob.RolloutStatus), []struct{ object, want string }{
			{"status: {observedGeneration: 1}", "in progress: the controller has not seen the present spec yet"},
			{"status: {observedGeneration: 2, active: [{name: job}]}", "complete"},
		}},
		"ImageListPullJob": {asked(imagelistpulljob.RolloutStatus), []struct{ object, want string }{
			{"status: {}", "in progress: the controller has not seen the present spec yet"},
			{`status: {startTime: "2026-01-01T00:00:00Z", desired: 4, completed: 3, succeeded: 2}`, "in progress: 2 out of 4 images have been pulled to all nodes"},
			{`status: {completionTime: "2026-01-01T00:00:00Z", desired: 4, completed: 4, succeeded: 3}`, "failed: 1 out of 4 images have not been pulled to all nodes"},
			{`status: {completionTime: "2026-01-01T00:00:00Z", desired: 4, completed: 4, succeeded: 4}`, "complete"},
		}},
		"ImagePullJob": {asked(imagepulljob.RolloutStatus), []struct{ object, want string }{
			{"status: {}", "in progress: the controller has not seen the present spec yet"},
			{`status: {startTime: "2026-01-01T00:00:00Z", desired: 4, succeeded: 2}`, "in progress: 2 out of 4 nodes have got the image"},
			{`status: {completionTime: "2026-01-01T00:00:00Z", desired: 4, succeeded: 3, failed: 1, message: no such image}`, "failed: 1 out of 4 nodes have not got the image: no such image"},
			{`status: {completionTime: "2026-01-01T00:00:00Z", desired: 4, succeeded: 4}`, "complete"},
		}},
	} {
		for _, test := range of.cases {
			status := of.ask(t, test.object)
			if got := status.String(); !strings.HasPrefix(got, test.want) || test.want == "complete" && got != test.want || status.Done() != strings.HasPrefix(test.want, "complete") {
				t.Errorf("%s %s: %q, done %v, want %q", kind, test.object, got, status.Done(), test.want)
			}
		}
	}
}

// A partition in percent lets as many pods be updated as the controller's switches say. (SCS-30, DS-25)
func TestRolloutStatusRoundsAsTheControllerDoes(t *testing.T) {
	const sidecars = "spec: {updateStrategy: {partition: 50%}}, status: {observedGeneration: 2, matchedPods: 3, updatedPods: 1, updatedReadyPods: 1}"
	const daemons = "spec: {updateStrategy: {rollingUpdate: {partition: 50%}}}, status: {observedGeneration: 2, desiredNumberScheduled: 3, currentNumberScheduled: 3, numberAvailable: 3, updatedNumberScheduled: 1}"
	for name, test := range map[string]struct {
		ask          func(*testing.T, string) rollout.Status
		object, want string
	}{
		"SidecarSet, down": {asked(sidecarset.RolloutStatus), sidecars, "in progress: 1 out of 2 new pods have been updated"},
		"SidecarSet, up":   {asked(sidecarset.FeaturesOf(podwright.Release19).RolloutStatus), sidecars, "complete: 1 new pods have been updated"},
		"DaemonSet, up":    {asked(daemonset.RolloutStatus), daemons, "complete: 1 new pods have been updated"},
		"DaemonSet, down":  {asked(daemonset.FeaturesOf(podwright.Release19).RolloutStatus), daemons, "in progress: 1 out of 2 new pods have been updated"},
	} {
		if got := test.ask(t, test.object).String(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
