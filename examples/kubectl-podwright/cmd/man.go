// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
)

// man writes man pages. (KC-21)
func (c *commands) man() *cobra.Command {
	return &cobra.Command{
		Use:                   "man DIRECTORY",
		DisableFlagsInUseLine: true,
		Short:                 "Write man pages of all commands",
		Long: templates.LongDesc(`
			Write a man page of every command into a directory, which is made if it does not exist. The pages are of section 1. They
			are dated by the environment variable SOURCE_DATE_EPOCH, in seconds, or by this day.`),
		Example: templates.Examples(`
			# Install the man pages of this user, and read one
			` + c.name + ` man ~/.local/share/man/man1
			man ` + program(c.name+" rollout status")),
		Args: cobra.ExactArgs(1),
		Run: func(cmd *cobra.Command, args []string) {
			cmdutil.CheckErr(writeManPages(cmd.Root(), args[0]))
		},
	}
}

func writeManPages(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the directory for the man pages: %w", err)
	}
	if flag := root.PersistentFlags().Lookup("cache-dir"); flag != nil {
		flag.DefValue = "$HOME/.kube/cache" // and not that of the user who writes the pages
	}
	header := &doc.GenManHeader{Section: "1", Manual: root.CommandPath(), Source: "podwright"}
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, header, dir)
}
