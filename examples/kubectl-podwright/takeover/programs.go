// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/process/features"
)

// programs finds programs of both that run side by side, and flags that podwright's do not take.
func (c *check) programs() {
	for _, program := range c.Programs {
		if !isOpenKruise(program) || replicas(program) == 0 {
			continue
		}
		beside := slices.ContainsFunc(c.Programs, func(other *unstructured.Unstructured) bool {
			return other.GetKind() == program.GetKind() && isPodwright(other) && replicas(other) > 0
		})
		switch {
		case beside && program.GetKind() == "Deployment":
			c.answer(title(program), "PF-4", "It runs beside podwright's manager. Both serve webhooks and keep them in order, each in its own way.", "Scale it to 0.")
		case beside:
			c.answer(title(program), "PF-3", "It runs beside podwright's agent: two agents serve the same nodes.", "Delete it.")
		}
	}
}

// arguments are the flags that a program is called with.
func arguments(program *unstructured.Unstructured) map[string]string {
	given := map[string]string{}
	container := containerOf(program)
	for _, argument := range slices.Concat(strs(container, "command"), strs(container, "args")) {
		if name, value, _ := strings.Cut(strings.TrimLeft(argument, "-"), "="); strings.HasPrefix(argument, "-") {
			given[name] = value
		}
	}
	return given
}

// leases says who leads. OpenKruise before 1.4 locks a ConfigMap alone, which podwright does not look at.
func (c *check) leases() {
	found := false
	for _, lease := range c.Leases {
		if lease.GetName() != "kruise-manager" {
			continue
		}
		found = true
		holder := text(lease.Object, "spec", "holderIdentity")
		renewed, err := time.Parse(time.RFC3339, text(lease.Object, "spec", "renewTime"))
		seconds, _ := number(lease.Object, "spec", "leaseDurationSeconds")
		if holder != "" && err == nil && c.Now.Sub(renewed) < time.Duration(seconds)*time.Second {
			c.happens(title(lease), "PF-4", fmt.Sprintf("%s holds it. podwright's controllers begin %d s after that one ends, at most.", holder, seconds))
		}
	}
	if !found && len(c.Locks) > 0 {
		c.answer(title(c.Locks[0]), "PF-4", "OpenKruise holds this lock and no Lease, so podwright does not see that it leads.",
			"Stop OpenKruise's manager before podwright starts.")
	}
}

// gates compares the gates of OpenKruise's running manager with those that podwright will have. (KC-28)
func (c *check) gates() {
	for _, program := range c.Programs {
		if !isOpenKruise(program) || program.GetKind() != "Deployment" {
			continue
		}
		given := arguments(program)["feature-gates"]
		gates, err := c.theirs(given)
		if err != nil {
			c.answer(title(program), "PF-1", "podwright does not know a gate: "+err.Error()+".", "Leave it out.")
			return
		}
		for gate, spec := range as14() {
			named, is := concerned(gate, spec)
			if theirs, ours := gates.Enabled(gate), c.Gates.Enabled(gate); is && theirs != ours {
				c.otherGate(title(program), gate, theirs, named)
			}
		}
		for name, means := range withoutEffect {
			gate, idle := features.Gate(name), len(features.Flags{Gates: name}.WithoutEffect()) > 0
			switch theirs := gates.Enabled(gate); {
			case idle && theirs:
				c.answer(title(program), "PF-1", "The gate "+name+" is on, and has no effect in podwright. "+means[0], means[1])
			case !idle && theirs != c.Gates.Enabled(gate):
				c.otherGate(title(program), gate, theirs, nil)
			}
		}
		if c.release == "1.9" && !as19(c.Gates) {
			c.answer(title(program), "PF-1", "podwright is to behave as 1.4, and 1.9 runs: order, rounding and conditions differ.",
				"Give podwright's manager --release=1.9, and this check too.")
		}
	}
}

// as14 is what 1.4 makes of all gates: those that podwright has for what 1.9 does are off there.
func as14() map[features.Gate]features.Spec {
	gates, err := (&features.Flags{Release: podwright.Release14}).Parse()
	if err != nil {
		panic(err) // nothing was given that could be wrong
	}
	return gates.All()
}

// theirs are the gates of a manager of OpenKruise that was given some. Their stages are those of 1.4 until 1.7.
func (c *check) theirs(given string) (*features.Gates, error) {
	flags := features.Flags{Release: podwright.Release14, Gates: given}
	switch {
	case !before(c.release, "1.8"):
		flags.Release = podwright.Release19
	case !before(c.release, "1.7") && strings.Contains(given, "AllAlpha=true"):
		flags.Gates = newIn17 + given
	case !before(c.release, "1.5") && !strings.Contains(given, "AllAlpha=true"):
		// These were new then, and off.
		flags.Gates = newIn15 + given
	case c.release == "1.4":
		flags.Gates = "ResourceDistributionGate=true," + given // which it has no gate for
	}
	return flags.Parse()
}

// otherGate adds a finding about a gate that is other than with OpenKruise, if there is something that it concerns.
func (c *check) otherGate(program string, gate features.Gate, on bool, named []string) {
	concerned := []string{}
	for _, kind := range named {
		if n := len(c.Objects[kind]); n > 0 {
			concerned = append(concerned, count(n, kind))
		}
	}
	if len(named) > 0 && len(concerned) == 0 {
		return
	}
	what := cmp.Or(otherwise[gate], "This concerns pods and what is protected.")
	if len(named) > 0 {
		what = "This concerns " + strings.Join(concerned, ", ") + "."
	}
	state := map[bool]string{true: "on", false: "off"}
	c.answer(program, "PF-1", fmt.Sprintf("The gate %s is %s in OpenKruise and %s in podwright. %s", gate, state[on], state[!on], what),
		fmt.Sprintf("Give podwright's manager --feature-gates=%s=%t, or decide that it may change.", gate, on))
}
