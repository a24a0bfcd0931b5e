// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// What every manifest says, and what the demo makes of it.
const (
	setName        = "web"
	replicas       = 10
	maxUnavailable = 2
	oldImage       = "busybox:1.36"
	newImage       = "busybox:1.37"
	badImage       = "busybox:bad"
)

// act is a part of the demo that keeps one promise.
type act struct {
	// name says what is checked in the end, such as "The update"; empty: nothing is.
	name string
	// moves is how many pods get another image on the way, each of which
	// restarts one container once.
	moves int
	steps []step
}

// step is one change to the workload, and what follows from it.
type step struct {
	// title says what is going on, done what has come of it, and task what it
	// took the time for, as in "1.2 s to roll back".
	title, done, task string
	changes           []change
	// want is where the workload comes to rest.
	want status
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

// updated is the status of a workload that serves, with so many pods at the
// update revision.
func updated(n int64) status { return status{0, replicas, replicas, n, n} }

// create makes the workload; its step has no changes.
func create(what string) act {
	return act{steps: []step{{title: "create " + setName + ": " + what, done: "all pods are ready", want: updated(replicas)}}}
}

// halves updates the pods, half of them first: a partition holds the others,
// whose field and value differ between kinds.
func halves(field string, half any, first, second string) act {
	return act{name: "The update to " + path.Base(newImage), moves: replicas, steps: []step{{
		title:   fmt.Sprintf("%s -> %s, partition %v: %s", path.Base(oldImage), path.Base(newImage), half, first),
		done:    "half of the pods have moved, the partition holds the others",
		task:    "to update the first half",
		changes: []change{setImage(newImage), {"add", field, half}}, want: updated(replicas / 2),
	}, {
		title: "partition 0: " + second, done: "all pods have moved", task: "to update the second half",
		changes: []change{{"add", field, 0}}, want: updated(replicas),
	}}}
}

// mistake rolls an image out that cannot be pulled, and rolls it back.
func mistake() act {
	return act{name: "The bad image and its roll-back", moves: maxUnavailable, steps: []step{{
		title:   fmt.Sprintf("%s -> %s: %d pods break, and stop the rollout", path.Base(newImage), path.Base(badImage), maxUnavailable),
		done:    fmt.Sprintf("%d pods are broken, maxUnavailable keeps the others safe", maxUnavailable),
		task:    "to stop at the bad image",
		changes: []change{setImage(badImage)}, want: status{0, replicas, replicas - maxUnavailable, maxUnavailable, 0},
	}, {
		title: "roll back to " + path.Base(newImage) + ": only the broken pods move",
		done:  "all pods serve again", task: "to roll back",
		changes: []change{setImage(newImage)}, want: updated(replicas),
	}}}
}

// hint is a change to try, and what it does.
type hint struct {
	what   string
	change change
}

// suggestions are the commands to try when all has been shown.
func suggestions(kind *kind, p *place) []line {
	kubectl, remark := "kubectl", ""
	if _, err := exec.LookPath("kubectl"); err != nil {
		kubectl, remark = "go tool kubectl", "kubectl is not on the PATH: in examples/ the go command builds one, which takes a minute the first time."
	}
	prefix := kubectl + " --kubeconfig " + quote(p.kubeconfig)
	if len(filepath.SplitList(p.kubeconfig)) > 1 { // the flag takes one file only
		prefix = "KUBECONFIG=" + quote(p.kubeconfig) + " " + kubectl
	}
	if p.namespace != "default" {
		prefix += " -n " + p.namespace
	}
	out := []line{
		{}, {text: "Everything stays up until Ctrl-C. Kubeconfig and logs:"},
		{text: "  " + p.kubeconfig}, {text: "  " + filepath.Join(p.dir, "*.log")},
		{}, {text: "Commands to try in another terminal; what they do is shown here:", color: title}, {text: remark},
	}
	number := 0
	try := func(what, arguments string) {
		number++
		out = append(out, line{text: fmt.Sprintf("%d. %s", number, what)}, line{text: "  " + prefix + " \\"}, line{text: "    " + arguments}, line{})
	}
	try("Roll out an image that does not exist: two pods break, the others are safe.", kind.patch(setImage(badImage)))
	try("Roll back: only the two broken pods are changed.", kind.patch(setImage(newImage)))
	try("Scale out.", fmt.Sprintf("scale %s %s --replicas=12", kind.kubectl, setName))
	for _, h := range kind.more {
		try(h.what, kind.patch(h.change))
	}
	return out
}

// patch returns the arguments with which kubectl makes a change.
func (k *kind) patch(c change) string {
	patch, _ := json.Marshal([]change{c}) // text and numbers: it cannot fail
	return fmt.Sprintf("patch %s %s --type=json -p '%s'", k.kubectl, setName, patch)
}

// quote makes one word of text for a shell.
func quote(text string) string {
	if strings.ContainsAny(text, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
