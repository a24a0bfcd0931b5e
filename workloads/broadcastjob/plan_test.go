// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"testing"
)

const (
	running  = `status: {phase: running, startTime: "2026-01-01T11:00:00Z"}`
	paused   = `status: {phase: paused, startTime: "2026-01-01T11:00:00Z"}`
	cont     = "\nspec: {failurePolicy: {type: Continue}}"
	pause    = "\nspec: {failurePolicy: {type: Pause}}"
	complete = `status: {phase: completed, observedGeneration: 1, completionTime: "2026-01-01T11:59:00Z", conditions: [{type: Complete, status: "True"}]}`
	failed   = `status: {phase: failed, observedGeneration: 1, active: 1, completionTime: "2026-01-01T11:59:00Z", conditions: [{type: Failed, status: "True", lastProbeTime: "2026-01-01T11:59:00Z", lastTransitionTime: "2026-01-01T11:59:00Z"}]}`
)

func TestPlan(t *testing.T) {
	for _, test := range []struct{ name, job, cluster, want string }{
		{"BJ-3: the first sync", ``, "n1 n2", "+n1 +n2 running desired=2 active=2 succeeded=0 failed=0"},
		{"BJ-2: finished for good", complete, "n1:Succeeded n2", ""},
		{"BJ-2: finished, and a new generation is observed", "metadata: {generation: 2}\n" + complete, "n1", "completed desired=0 active=0 succeeded=0 failed=0"},

		{"BJ-4: the node of a pod is where it is pinned to", running, "n1:Pending n2", "+n2 running desired=2 active=2 succeeded=0 failed=0"},
		{"BJ-4: or its node name", running, "n1:Pending+direct n2", "+n2 running desired=2 active=2 succeeded=0 failed=0"},

		{"BJ-5: pods by their phases", running + cont, "n1:Succeeded n2:Failed n3:Running n4:Pending n5:Unknown", "running desired=5 active=3 succeeded=1 failed=1"},
		{"BJ-5: pods that are being deleted", running + cont, "n1:Succeeded+leaving n2:Failed+leaving n3:Running+leaving", "running desired=3 active=0 succeeded=1 failed=0 again in 1m0s"},
		{"BJ-5: a limit of no restart", running + cont, "n1:active+restarts=0 n2:active+restarts=1", "running desired=2 active=1 succeeded=0 failed=1"},
		{"BJ-5: a limit of three restarts", running + "\nspec: {failurePolicy: {type: Continue, restartLimit: 3}}", "n1:active+restarts=3 n2:active+restarts=4",
			"running desired=2 active=1 succeeded=0 failed=1"},

		{"BJ-6: a node that does not fit", running, "n1 cordoned", "+n1 running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-6: no node fits", running, "cordoned", "running desired=0 active=0 succeeded=0 failed=0"},
		{"BJ-7: a pod on a node that does not fit any more", running, "cordoned:active n2:active", "-cordoned running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-7: several of them at once", running + "\nspec: {parallelism: 1}", "cordoned:active (n1:active) n2:active", "-n1 -cordoned running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-7: also one that succeeded, which stays counted", running, "cordoned:Succeeded n2:active", "-cordoned running desired=2 active=1 succeeded=1 failed=0"},
		{"BJ-7: one that is being deleted is not desired there", running, "cordoned:active+leaving n2:active", "running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-7: one whose node is gone", running, "(n1:active) n2:active", "-n1 running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-7: one whose node is gone, and that finished", running, "(n1:Succeeded) n2:active", "running desired=2 active=1 succeeded=1 failed=0"},

		{"BJ-8: paused before the start", "spec: {paused: true}", "n1", "paused desired=1 active=0 succeeded=0 failed=0"},
		{"BJ-8: paused", running + "\nspec: {paused: true}", "n1:active n2 cordoned:active", "paused desired=2 active=2 succeeded=0 failed=0"},
		{"BJ-8: paused beyond the deadline", running + "\nspec: {paused: true, completionPolicy: {activeDeadlineSeconds: 60}}", "n1:active", "paused desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-8: paused, and a pod has failed", running + "\nspec: {paused: true}", "n1:Failed n2", "paused desired=2 active=0 succeeded=0 failed=1"},
		{"BJ-8: no longer paused", paused, "n1:active", `running desired=1 active=1 succeeded=0 failed=0 "Continue"`},
		{"BJ-8: no longer paused, and beyond the deadline", paused + "\nspec: {completionPolicy: {activeDeadlineSeconds: 60}}", "n1:active",
			`-n1 failed desired=1 active=0 succeeded=0 failed=1 "Continue" "DeadlineExceeded"`},

		{"BJ-9: Pause", running + pause, "n1:active n2:Failed n3", `paused desired=3 active=1 succeeded=0 failed=1 "Paused"`},
		{"BJ-9: Pause, still", `status: {phase: paused, startTime: "2026-01-01T11:00:00Z", observedGeneration: 1, desired: 3, active: 1, failed: 1, nodeResults: {n2: Failed}}` + pause, "n1:active n2:Failed n3", ""},
		{"BJ-9: Pause, the failed pod is being deleted", `status: {phase: paused, startTime: "2026-01-01T11:00:00Z", nodeResults: {n2: Failed}}` + pause, "n1:active n2:Failed+leaving n3",
			"paused desired=3 active=1 succeeded=0 failed=1"},
		{"BJ-9: Pause, the failed pod has been deleted", `status: {phase: paused, startTime: "2026-01-01T11:00:00Z", nodeResults: {n2: Failed}}` + pause, "n1:active n2 n3",
			`+n2 +n3 running desired=3 active=3 succeeded=0 failed=0 "Continue"`},
		{"BJ-9: FailFast", running, "n1:active n2:Failed n3", `-n1 failed desired=3 active=0 succeeded=0 failed=2 "failed pod is found"`},
		{"BJ-9: FailFast, and the failed pod is gone", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n2: Failed}}`, "n1:active n2 n3",
			`-n1 failed desired=3 active=0 succeeded=0 failed=2 "failed pod is found"`},
		{"BJ-9: Continue", running + cont, "n1:active n2:Failed n3", "+n3 running desired=3 active=2 succeeded=0 failed=1"},
		{"BJ-9: an unknown policy acts like Continue", running + "\nspec: {failurePolicy: {type: Hope}}", "n1:Failed n3", "+n3 running desired=2 active=1 succeeded=0 failed=1"},

		{"BJ-10: before the deadline", running + "\nspec: {completionPolicy: {activeDeadlineSeconds: 3660}}", "n1:active", "running desired=1 active=1 succeeded=0 failed=0 again in 1m0s"},
		{"BJ-10: at the deadline", running + "\nspec: {completionPolicy: {activeDeadlineSeconds: 3600}}", "n1:active n2:Succeeded n3",
			`-n1 failed desired=3 active=0 succeeded=1 failed=1 "DeadlineExceeded"`},
		{"BJ-10: no node fits, and the deadline still applies", running + "\nspec: {completionPolicy: {activeDeadlineSeconds: 3600}}", "",
			`failed desired=0 active=0 succeeded=0 failed=0 "DeadlineExceeded"`},
		{"BJ-10: a deadline beyond all times", running + "\nspec: {completionPolicy: {activeDeadlineSeconds: 9223372036854775807}}", "n1:active", "running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-10: not for Never", running + "\nspec: {completionPolicy: {type: Never, activeDeadlineSeconds: 1}}", "n1:active", "running desired=1 active=1 succeeded=0 failed=0"},

		{"BJ-11: pods that were not deleted", failed, "n1:active n2:Failed n3:Succeeded n4:active+leaving", "-n1"},
		{"BJ-11: Never and failed", failed + "\nspec: {completionPolicy: {type: Never}}", "n1:active n2:Failed n3", "-n1 failed desired=3 active=0 succeeded=0 failed=1"},
		{"BJ-11: Never and failed, the results stand", `status: {phase: failed, nodeResults: {n1: Failed}}` + "\nspec: {completionPolicy: {type: Never}}", "n1:active n2",
			"-n1 failed desired=2 active=0 succeeded=0 failed=1"},

		{"BJ-11: a pod that restarts too often", running, "n1:active+restarts=1 n2:active n3", `-n1 -n2 failed desired=3 active=0 succeeded=0 failed=2 "failed pod is found"`},
		{"BJ-11: it was not deleted", failed, "n1:active+restarts=1 n2:Failed n3:Succeeded", "-n1"},
		{"BJ-11: nor when the job was complete", complete, "n1:active+restarts=1 n2:Failed n3:Succeeded", "-n1"},
		{"BJ-11: while the job goes on it may succeed", running + cont, "n1:active+restarts=1 n2:active", "running desired=2 active=1 succeeded=0 failed=1"},

		{"BJ-12: a number", running + "\nspec: {parallelism: 2}", "n3 n2 n1", "+n1 +n2 running desired=3 active=2 succeeded=0 failed=0"},
		{"BJ-12: as many are active", running + "\nspec: {parallelism: 1}", "n1:active n2", "running desired=2 active=1 succeeded=0 failed=0"},
		{"BJ-12: those that are being deleted are not active", running + "\nspec: {parallelism: 1}", "n1:active+leaving n2", "+n2 running desired=2 active=1 succeeded=0 failed=0 again in 1m0s"},
		{"BJ-12: those that are deleted now are, as that may fail", running + "\nspec: {parallelism: 1}", "cordoned:active n2", "-cordoned running desired=1 active=0 succeeded=0 failed=0"},
		{"BJ-12: half of three", running + "\nspec: {parallelism: 50%}", "n1 n2 n3", "+n1 +n2 running desired=3 active=2 succeeded=0 failed=0"},
		{"BJ-12: 15 percent of ten", running + "\nspec: {parallelism: 15%}", "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9", "+n0 +n1 running desired=10 active=2 succeeded=0 failed=0"},
		{"BJ-12: 30 percent of ten", running + "\nspec: {parallelism: 30%}", "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9", "+n0 +n1 +n2 running desired=10 active=3 succeeded=0 failed=0"},
		{"BJ-12: nothing", running + "\nspec: {parallelism: 0}", "n1", "running desired=1 active=0 succeeded=0 failed=0"},
		{"BJ-12: nothing of all", running + "\nspec: {parallelism: 0%}", "n1", "running desired=1 active=0 succeeded=0 failed=0"},
		{"BJ-12: less than nothing", running + "\nspec: {parallelism: -1}", "n1", "running desired=1 active=0 succeeded=0 failed=0"},
		{"BJ-12: a number as a string", running + `
spec: {parallelism: "1"}`, "n1 n2", "+n1 running desired=2 active=1 succeeded=0 failed=0"},
		{"BJ-12: too many", running + "\nspec: {parallelism: 1}", "n1:active n2:active n3", `running desired=3 active=2 succeeded=0 failed=0 "TooManyActivePods"`},
		{"BJ-24: an error", running + "\nspec: {parallelism: some}", "n1", `running desired=1 active=0 succeeded=0 failed=0 "InvalidSpec"`},

		{"BJ-13: complete", running, "n1:Succeeded n2:Succeeded", `completed desired=2 active=0 succeeded=2 failed=0 "JobComplete"`},
		{"BJ-13: complete with failures", running + cont, "n1:Succeeded n2:Failed", `completed desired=2 active=0 succeeded=1 failed=1 "JobComplete"`},
		{"BJ-13: one is being deleted", running, "n1:Succeeded n2:active+leaving", "running desired=2 active=0 succeeded=1 failed=0 again in 1m0s"},
		{"BJ-13: one that restarts too often", running + cont, "n1:active+restarts=1", `-n1 completed desired=1 active=0 succeeded=0 failed=1 "JobComplete"`},
		{"BJ-13: one is to be deleted", running, "n1:Succeeded cordoned:active", "-cordoned running desired=1 active=0 succeeded=1 failed=0"},

		{"BJ-14: not yet", complete + "\nspec: {completionPolicy: {ttlSecondsAfterFinished: 90}}", "n1", "again in 30s"},
		{"BJ-14: expired", complete + "\nspec: {completionPolicy: {ttlSecondsAfterFinished: 60}}", "n1", "delete the job"},
		{"BJ-14: at once", running + "\nspec: {completionPolicy: {ttlSecondsAfterFinished: 0}}", "n1:Succeeded",
			`completed desired=1 active=0 succeeded=1 failed=0 "JobComplete" again in 1ms`},
		{"BJ-14: is being deleted already", complete + "\nmetadata: {deletionTimestamp: \"2026-01-01T11:00:00Z\"}\nspec: {completionPolicy: {ttlSecondsAfterFinished: 60}}", "n1", ""},

		{"BJ-15: Never", running + "\nspec: {completionPolicy: {type: Never}}", "n1:Succeeded", "running desired=1 active=0 succeeded=1 failed=0"},
		{"BJ-15: Never, and a node joins", running + "\nspec: {completionPolicy: {type: Never}}", "n1:Succeeded n2", "+n2 running desired=2 active=1 succeeded=1 failed=0"},
		{"BJ-15: Never, and a node has left", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n1: Succeeded, n2: Succeeded}}` + "\nspec: {completionPolicy: {type: Never}}", "n2",
			"running desired=1 active=0 succeeded=1 failed=0"},
		{"BJ-15: Never, once complete", complete + "\nspec: {completionPolicy: {type: Never}}", "n1:Succeeded n2", "+n2 running desired=2 active=1 succeeded=1 failed=0"},

		{"BJ-15: Never, and another node has the name", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {rejoined: Succeeded}}` + "\nspec: {completionPolicy: {type: Never}}",
			"rejoined:Succeeded", "-rejoined running desired=1 active=0 succeeded=0 failed=0"},
		{"BJ-15: Never, another node has the name, and the pod goes", running + "\nspec: {completionPolicy: {type: Never}, failurePolicy: {type: Continue}}",
			"rejoined:Failed+leaving", "running desired=1 active=0 succeeded=0 failed=0 again in 1m0s"},
		{"BJ-15: Never, another node has the name, and the pod is gone", running + "\nspec: {completionPolicy: {type: Never}}", "rejoined", "+rejoined running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-15: Never, another node has the name, and the pod is beside one of its own", running + "\nspec: {completionPolicy: {type: Never}, failurePolicy: {type: Continue}}",
			"rejoined:Succeeded+young rejoined:Failed+name=former", `-rejoined running desired=1 active=0 succeeded=1 failed=0 "DuplicatePodCreatedOnSameNode"`},
		{"BJ-15: Never, another node has the name, and the pod is further than one of its own", running + "\nspec: {completionPolicy: {type: Never}, failurePolicy: {type: Continue}}",
			"rejoined:Failed+name=own+young rejoined:Succeeded", `-rejoined running desired=1 active=0 succeeded=0 failed=0 "DuplicatePodCreatedOnSameNode"`},
		{"BJ-15: Never, another node has the name, and the pod runs on", running + "\nspec: {completionPolicy: {type: Never}}", "rejoined:active", "running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-19: Always, another node has the name", running, "rejoined:Succeeded", `completed desired=1 active=0 succeeded=1 failed=0 "JobComplete"`},

		{"BJ-18: is being deleted", running + "\nmetadata: {deletionTimestamp: \"2026-01-01T11:00:00Z\"}", "n1:active n2", "running desired=2 active=1 succeeded=0 failed=0"},

		{"BJ-19: finished pods that are gone stay counted", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n1: Succeeded, n2: Failed}}` + cont, "n1 n2 n3",
			"+n3 running desired=3 active=1 succeeded=1 failed=1"},
		{"BJ-19: also where the nodes are gone", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n1: Succeeded, n2: Failed}}` + cont, "n3:Succeeded",
			`completed desired=3 active=0 succeeded=2 failed=1 "JobComplete"`},
		{"BJ-19: also where they do not fit any more", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {cordoned: Succeeded}}`, "cordoned n3:Succeeded",
			`completed desired=2 active=0 succeeded=2 failed=0 "JobComplete"`},
		{"BJ-28: a pod terminates too long", running, "n1:Succeeded n2:active+late=1m", `running desired=2 active=0 succeeded=1 failed=0 "PodTerminating" again in 14m0s`},
		{"BJ-28: and counts as failed", running + cont, "n1:Succeeded n2:active+late=15m", `completed desired=2 active=0 succeeded=1 failed=1 "PodNotTerminated" "JobComplete"`},
		{"BJ-28: and fails the job", running, "n1:active n2:active+late=15m", `-n1 failed desired=2 active=0 succeeded=0 failed=2 "PodNotTerminated" "failed pod is found"`},
		{"BJ-28: and did so before", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n2: Failed}}` + cont, "n1:active n2:active+late=16m",
			"running desired=2 active=1 succeeded=0 failed=1"},
		{"BJ-28: with a result it is not waited for", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n2: Succeeded}}`, "n1:active n2:active+late=2m",
			"running desired=2 active=1 succeeded=1 failed=0"},
		{"BJ-28: nor where its node does not fit", running, "cordoned:active+late=2m n2:active", "running desired=1 active=1 succeeded=0 failed=0"},
		{"BJ-28: Never waits on", running + "\nspec: {completionPolicy: {type: Never}}", "n1:active n2:active+late=2h", `running desired=2 active=1 succeeded=0 failed=0 "PodTerminating"`},
		{"BJ-19: a pod that had failed is being deleted", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n1: Failed}}` + cont, "n1:Failed+leaving n2",
			"+n2 running desired=2 active=1 succeeded=0 failed=1"},
		{"BJ-19: a pod tells more than a result", `status: {phase: running, startTime: "2026-01-01T11:00:00Z", nodeResults: {n1: Failed}}` + cont, "n1:Succeeded n2:active",
			"running desired=2 active=1 succeeded=1 failed=0"},

		{"BJ-21: pods of others", running, "n1:active+stranger n2:active+unlabelled n3:active", "+n1 +n2 running desired=3 active=3 succeeded=0 failed=0"},
		{"BJ-22: two pods on a node", running, "n1:active n1:Succeeded+name=second n2:active", `running desired=2 active=2 succeeded=1 failed=0 "DuplicatePodCreatedOnSameNode"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := place(t, jobOf(t, test.job), test.cluster)
			plan := NewPlan(s)
			if got := show(plan); got != test.want {
				t.Errorf("plan\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 {
			t.Errorf("problems %v, want one", plan.Problems)
		}
	}
}
