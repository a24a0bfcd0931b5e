// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/manager/app"
	agent "github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/tests/cluster"
)

// programs are what a test binary can be. The name of a program begins its user agents, and is that of its account.
var programs = map[string]func(arguments []string) int{ManagerProgram: app.Main, AgentProgram: agent.Main}

// The programs of a testbed.
const (
	ManagerProgram = "podwright-manager"
	AgentProgram   = "podwright-nodeagent"
)

// users are the accounts of the programs.
var users = map[string]string{
	ManagerProgram: "system:serviceaccount:" + agent.Namespace + ":" + ManagerProgram,
	AgentProgram:   "system:serviceaccount:" + agent.Namespace + ":" + AgentProgram,
}

// identity is who a program is to the API server, and what it may do there.
type identity struct {
	*cluster.Account
	parts []permissions.Part
}

// manifests returns the rights that a program of a testbed states, and the objects that grant them.
func (b *Testbed) manifests(program string) (parts []permissions.Part, manifest []byte, err error) {
	environment := func(string) string { return "" }
	if program == AgentProgram {
		config := agent.NewConfig(environment)
		config.Endpoint = "/named" // each agent is given its own
		if parts, err = agent.Permissions(config); err != nil {
			return nil, nil, err
		}
		if manifest, err = agent.Manifest(config); err != nil {
			return nil, nil, err
		}
		policies, err := agent.Policies()
		return parts, append(manifest, policies...), err
	}
	config, err := app.NewConfig(environment)
	if err != nil {
		return nil, nil, err
	}
	config.InstallCRDs, config.CreateOwnNamespace, config.Features.Gates = true, true, b.options.FeatureGates
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(slices.Concat(b.options.ManagerFlags, b.options.Flags)); err != nil {
		return nil, nil, err
	}
	if parts, err = app.Permissions(config); err != nil {
		return nil, nil, err
	}
	manifest, err = app.Manifest(config)
	return parts, manifest, err
}

// identify makes the account of a program. It has the rights that the program states, and no others.
func (b *Testbed) identify(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	parts, manifest, err := b.manifests(program)
	if err != nil {
		return err
	}
	account, err := b.Control.Account(ctx, manifest)
	if err != nil {
		return err
	}
	b.identities[program] = identity{account, parts}
	return nil
}

// wholeLog reads an audit log up to the end of a line. The API server may just be writing one: of watches, which end with the
// programs, it tells then.
func wholeLog(path string) (log []byte, err error) {
	for range 100 {
		if log, err = os.ReadFile(path); err != nil || bytes.HasSuffix(log, []byte("\n")) {
			return log, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, fmt.Errorf("the audit log %s does not come to the end of a line in ten seconds", path)
}

// checkRights compares what the programs have asked of the API server with the rights that they state. It returns an error that
// names the requests that went beyond them. After a run of all tests, the error also names the rights that nothing has made use
// of.
func (b *Testbed) checkRights() (err error) {
	var errs []error
	for _, program := range slices.Sorted(maps.Keys(b.identities)) {
		judge := NewJudge(program, users[program], b.identities[program].parts)
		for _, bed := range append(b.another, b) {
			if log, err := wholeLog(bed.Control.AuditLog()); err != nil {
				return err
			} else if err := judge.Read(log); err != nil {
				return err
			}
		}
		wrong := judge.Beyond()
		if reasons, judged := b.options.Unused[program]; judged && everything() {
			wrong = append(wrong, judge.Unused(reasons)...)
		}
		if len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("the rights of %s:\n%s", program, strings.Join(wrong, "\n")))
		}
	}
	return errors.Join(errs...)
}
