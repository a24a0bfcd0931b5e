// SPDX-License-Identifier: Apache-2.0

package planted

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// Read reads the caches of a process, of which the first is that of the workload.
func Read(p *simulation.Process, resources ...podwright.Resource) readers.Noting {
	reader := caches.Reader{}
	for _, resource := range resources {
		reader[resource] = p.Informer(string(resource)).GetIndexer()
	}
	return readers.Noting{Reader: reader, Resource: resources[0], Note: p.Observe}
}
