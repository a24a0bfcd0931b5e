// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/completion"
	"k8s.io/kubectl/pkg/util/templates"
)

// completion is kubectl's command, with what makes kubectl complete a plugin. (KC-21)
func (c *commands) completion() *cobra.Command {
	cmd := completion.NewCmdCompletion(c.Out, "")
	program := program(c.name)
	cmd.Long = templates.LongDesc(`
		Output shell completion code for a shell: bash, zsh, fish or powershell. It completes the program called as ` + program + `.

		For "` + c.name + `" kubectl asks a program kubectl_complete-` + strings.TrimPrefix(program, "kubectl-") + ` on the PATH, which is a script of two lines.`)
	cmd.Example = templates.Examples(`
		# Complete ` + program + ` in this bash
		source <(` + program + ` completion bash)

		# Complete ` + c.name + `, wherever kubectl is completed
		printf '#!/bin/sh\nexec ` + program + ` __complete "$@"\n' >/usr/local/bin/kubectl_complete-` + strings.TrimPrefix(program, "kubectl-") + `
		chmod +x /usr/local/bin/kubectl_complete-` + strings.TrimPrefix(program, "kubectl-"))
	return cmd
}

// program is the name of the file that answers to a call such as "kubectl podwright".
func program(call string) string { return strings.ReplaceAll(call, " ", "-") }
