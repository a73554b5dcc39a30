"""What comes from elsewhere: other memories, stores and chats, read in their own formats.

Reading knows nothing of our store, and taking in knows nothing of formats. Times and ids are kept,
so that what came once is known when it comes again.
"""
