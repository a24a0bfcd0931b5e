package cloneset

import (
	"testing"

	"github.com/podwright/podwright/internal/world"
)

// TestScripts plays the rollouts in testdata: see world.RunScripts.
func TestScripts(t *testing.T) {
	world.RunScripts(t, "testdata/scripts", func(t *testing.T) (*world.World, world.Workload) {
		w := newWorld(t)
		return w.World, w
	})
}
