package main

import (
	"fmt"
	"path"
	"time"

	"github.com/podwright/podwright/examples/evaluate/history"
)

// What every manifest says, and what the demo makes of it.
const (
	setName        = "web"
	replicas       = 10
	maxUnavailable = 2
	container      = "main"
	oldImage       = "busybox:1.36"
	newImage       = "busybox:1.37"
	badImage       = "busybox:bad"
)

// How long a person is given to look at pods where nothing is to be explained,
// and to read why some of them wait.
const (
	shortLook = 2 * time.Second
	longLook  = 3 * time.Second
)

// act is a part of the demo that keeps one promise.
type act struct {
	// name says what is checked in the end, such as "The update".
	name    string
	promise history.Promise
	steps   []step
}

// step is one change to the workload, and what follows from it.
type step struct {
	// title says what is going on, done what has come of it, and task what it
	// took the time for, as in "1.2 s to roll back".
	title, done, task string
	changes           []change
	// stage names what limits how many pods get the new image; empty: none get it.
	stage string
	// want is where the workload comes to rest.
	want counts
	// look is how long a person is given to see it.
	look time.Duration
}

// change is one operation of a JSON patch.
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func setImage(image string) change {
	return change{"replace", "/spec/template/spec/containers/0/image", image}
}

// updated are the counts of a workload that serves, with so many pods at the
// update revision.
func updated(n int32) counts { return counts{replicas, replicas, n, n} }

// create is the first step: its change is that there is a workload.
func (k *kind) create(namespace string) step {
	return step{
		title: fmt.Sprintf("create %s %s/%s: %s", k.name, namespace, setName, k.creation), done: "all pods are ready",
		want: updated(replicas), look: shortLook,
	}
}

// halves updates the pods, half of them first: a partition holds the others,
// whose field and value differ between kinds. The order is that of history.Promise.
func halves(field string, half any, first, second string, order []string) act {
	return act{
		name:    "The update to " + path.Base(newImage),
		promise: history.Promise{Pods: replicas, MaxUnavailable: maxUnavailable, Container: container, Image: newImage, Order: order},
		steps: []step{{
			title:   fmt.Sprintf("%s -> %s, partition %v: %s", path.Base(oldImage), path.Base(newImage), half, first),
			done:    "half of the pods have moved, the partition holds the others",
			task:    "to update the first half",
			changes: []change{setImage(newImage), {"add", field, half}},
			stage:   fmt.Sprintf("partition %v", half), want: updated(replicas / 2), look: longLook,
		}, {
			title: "partition 0: " + second, done: "all pods have moved", task: "to update the second half",
			changes: []change{{"add", field, 0}},
			stage:   "partition 0", want: updated(replicas),
		}},
	}
}

// mistake rolls an image out that cannot be pulled, and rolls it back.
func mistake(order []string) act {
	return act{
		name: "The bad image and its roll-back",
		promise: history.Promise{Pods: replicas, MaxUnavailable: maxUnavailable, Container: container,
			Image: badImage, RollBack: newImage, Order: order},
		steps: []step{{
			title:   fmt.Sprintf("%s -> %s: %d pods break, and stop the rollout", path.Base(newImage), path.Base(badImage), maxUnavailable),
			done:    fmt.Sprintf("%d pods are broken, maxUnavailable keeps the others safe", maxUnavailable),
			task:    "to stop at the bad image",
			changes: []change{setImage(badImage)},
			stage:   path.Base(badImage), want: counts{replicas, replicas - maxUnavailable, maxUnavailable, 0}, look: longLook,
		}, {
			title: "roll back to " + path.Base(newImage) + ": only the broken pods move",
			done:  "all pods serve again", task: "to roll back",
			changes: []change{setImage(newImage)},
			want:    updated(replicas),
		}},
	}
}
