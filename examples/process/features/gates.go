// SPDX-License-Identifier: Apache-2.0

package features

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podwright/podwright"
)

// Gate is the name of a feature gate, as it stands on the command line.
type Gate string

// Stage is how mature a release takes a gate for. AllAlpha and AllBeta name all of a stage.
type Stage string

// The stages, as the help has them.
const (
	Alpha Stage = "ALPHA"
	Beta  Stage = "BETA"
	Later Stage = "LATER" // of a later release: neither AllAlpha nor AllBeta is about it
)

// Spec is what a release makes of a gate.
type Spec struct {
	// Default is whether the gate is on if nothing is said of it.
	Default bool
	Stage   Stage
}

// specs are that of all releases, or those of 1.4 and of 1.9.
type specs []Spec

func (s specs) of(release podwright.Release) Spec {
	if release == podwright.Release19 {
		return s[len(s)-1]
	}
	return s[0]
}

// Gates says which gates are on. Flags.Parse makes them. They do what package featuregate of k8s.io/component-base does, which
// links Prometheus into programs that have no metrics.
type Gates struct {
	all map[Gate]Spec
	set map[Gate]bool
}

// Enabled tells whether a gate is on. It panics for one that does not exist.
func (g *Gates) Enabled(gate Gate) bool {
	spec, known := g.all[gate]
	if !known {
		panic("there is no feature gate " + string(gate))
	}
	if on, said := g.set[gate]; said {
		return on
	}
	return spec.Default
}

// All returns what the release makes of all gates.
func (g *Gates) All() map[Gate]Spec { return maps.Clone(g.all) }

// allOf are the names of all gates of a stage.
var allOf = map[string]Stage{"AllAlpha": Alpha, "AllBeta": Beta}

// parse reads Name=true,Name=false. The last value of a name counts, and a name overrides its stage, in any order.
func (g *Gates) parse(text string) error {
	said := map[string]bool{}
	for given := range strings.SplitSeq(text, ",") {
		if given == "" {
			continue
		}
		name, value, found := strings.Cut(given, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found {
			return fmt.Errorf("missing bool value for %s", name)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("invalid value of %s=%s, err: %w", name, value, err)
		}
		said[name] = on
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		stage, several := allOf[name]
		if _, known := g.all[Gate(name)]; !known && !several {
			return fmt.Errorf("unrecognized feature gate: %s", name)
		}
		for gate, spec := range g.all {
			if _, named := said[string(gate)]; several && spec.Stage == stage && !named || string(gate) == name {
				g.set[gate] = said[name]
			}
		}
	}
	return nil
}

// help describes the gates, one a line.
func (g *Gates) help() []string {
	line := func(name string, spec Spec) string {
		return fmt.Sprintf("%s=true|false (%s - default=%t)", name, spec.Stage, spec.Default)
	}
	var lines []string
	for name, stage := range allOf {
		lines = append(lines, line(name, Spec{Stage: stage}))
	}
	for gate, spec := range g.all {
		lines = append(lines, line(string(gate), spec))
	}
	slices.Sort(lines)
	return lines
}
